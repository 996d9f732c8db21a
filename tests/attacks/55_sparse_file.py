"""A file that claims ten terabytes without filling them is refused."""

REAL = True
CELLS = ["with open('/tmp/@MARK@', 'wb') as file:\n    file.truncate(10**13)\n    print('BREACH')"]
