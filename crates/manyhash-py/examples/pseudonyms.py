import secrets

import manyhash
import pyarrow

key = secrets.token_bytes(32)
mails = pyarrow.array(["a@example.org", None, "b@example.org"])
print(pyarrow.array(manyhash.hmac_column(key, "sha256", mails, hex=True)))
