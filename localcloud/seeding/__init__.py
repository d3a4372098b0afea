"""What a fresh local cloud begins with: two companies, their people, and who may do what."""
