"""A program that gives its caller rights gives none: neither the machine's own nor a copy of one's own."""

CELLS = [
    """
import os, shutil, subprocess
shutil.copy("/bin/sh", "sh")
os.chmod("sh", 0o6755)
ask = ["./sh", "-p", "-c", "id -u; id -G; grep -i capeff /proc/self/status"]
shown = subprocess.run(ask, capture_output=True, text=True)
print(shown)
if "1000\\n1000\\nCapEff:\\t0000000000000000" not in shown.stdout:
    print("BREACH: rights")
for command in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"], ["mount", "-t", "tmpfs", "x", "/tmp"]):
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=3)
        print("BREACH" if done.returncode == 0 else "refused", command)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error)
for number in (0, 65534, 1001):
    try:
        os.setuid(number)
        print("BREACH: user", number)
    except OSError as error:
        print(error)
"""
]
