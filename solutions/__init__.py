"""Reference models of the course: one model, one file, read from top to bottom.

    recurrent    layers · rnn · ugrnn · bidirectional · seq2seq · captioner
    attention    attention · spatial · positional · transformer · bert
    others       language_cnn · mlp · counting (parameters and operations)
    beside them  fused (torch's own loops over time) · published (Hugging Face's weights)
    training     sources of data · experiments · attending · tasks · learning, the loop · training, the command line ·
                 pictures

The legend of axis letters. They follow the course's own notation; a letter that two topics use differently is
listed under both, and never means two things within one file.

    everywhere   B batch · T time (T_in, T_out: of source and target) · V vocabulary
                 J width of a hidden state or of a model · I width of a word vector
    recurrent    K width of the input x[b,t,K] · N layers of a stack
    captioning   X, Y image positions · K features of one position, as in M[x,y,K]
    language CNN D taps of the filter, Δt = 0 … D-1 · L layers
    MLP          K width of the input · I width of a hidden layer · L layers · H loss heads
    attention    K heads · U width of queries and keys · I width of values per head · X, Y image positions
    transformer  N layers · F inner width of the feed-forward layer · T_max positions · S segments

A lower-case letter is one index, an upper-case one the whole axis: `W[j,I] h[I]` is a sum over I.

Signs and names. A bias is *subtracted*, as everywhere in the course: σ(W h - B). torch adds; B = -b converts.
`W_hR` reads "from h to R". Losses are in nats. Times run along axis 1 of a batch: x[B,T,K].

    vectors      e word vectors · x input · h state · M memory that is attended to · alpha attention weights
    gates        G in (0,1); each docstring says what G = 1 does, since sources disagree
"""
