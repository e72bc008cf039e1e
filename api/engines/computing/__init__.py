"""What engines have in common that compute with torch. It knows none of them.

    copies       from the host to a device without stopping either
    device       what is to be known of it
    likeness     how far two sounds are apart
    selfcheck    a faster way is taken only if it sounds the same on the weights that were loaded
    precision    how exactly convolutions compute on a GPU
    cuda/        a GPU: small steps recorded once, and replayed
    native/      a CPU: snakes and convolutions as machine code

Importing this package imports nothing; its modules import torch.
"""
