"""No name is resolved, no packet leaves, and no interface but a dead loopback is there."""

CELLS = [
    """
import socket
try:
    print("BREACH:", socket.getaddrinfo("example.org", 80))
except OSError as error:
    print(error)
for address in (("1.1.1.1", 53), ("192.168.0.1", 80), ("169.254.169.254", 80)):
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
            channel.sendto(b"hello", address)
            print("BREACH: a packet to", address)
    except OSError as error:
        print(error)
print("BREACH" if len(socket.if_nameindex()) > 1 else "no interface")
"""
]
