"""Every AWS client and every store; boto3 is imported here and in `bootstrap` only."""
