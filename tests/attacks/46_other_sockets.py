"""Sockets beside the usual families are refused: packets, virtual machines, the kernel's crypto, Bluetooth, raw."""

REAL = True
CELLS = [
    """
import socket
for family, kind in ((17, 3), (40, 1), (38, 5), (31, 3), (29, 3), (44, 3), (2, 3), (16, 3)):
    try:
        with socket.socket(family, kind, 12 if family == 16 else 0) as channel:
            if family == 16:
                channel.bind((0, 1))
                channel.send(bytes(16))
            print("BREACH: family", family)
    except OSError as error:
        print(family, error)
"""
]
