"""What typed answers may use: the tensors of a layer, forwards and backwards."""

TENSORS = ["h_l[I]", "W_{l+1}[I,I]", "B_{l+1}[I]"]
BACKWARD = ["g_{l+1}[I]", "s_{l+1}[I]", "W_{l+1}[I,I]", "w_l[I]", "y", r"\hat{y}_l"]
