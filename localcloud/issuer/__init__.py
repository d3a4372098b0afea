"""The local cloud's issuer of tokens: OpenID Connect with people to choose from, without passwords.

1. `app` puts the pages together: description, keys, sign-in, tokens, revocation, signing out.
2. `requests` reads what a client asks for, all faults named as the protocol names them;
   `redirects` says where answers may go.
3. `signin` shows who can sign in (`pages` draws it) and hands out a code for whom was chosen.
4. `exchange` turns codes, refresh tokens and machines' secrets into tokens; `codes` are good once,
   `machines` knows the secrets, `tokens` writes what a token says, `keys` signs it.

The product sees no difference to an issuer in production: same protocol, same tokens.
"""
