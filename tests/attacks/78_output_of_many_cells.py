"""Two hundred cells that each print what one cell may print: the notebook as a whole shows half a megabyte."""

CELLS = ["print('x' * 490_000)"] * 200
FLAG = "shows more than"
SECONDS = 40
