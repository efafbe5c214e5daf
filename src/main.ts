// The command line: parse, compose, run, close with grace.
export {}
