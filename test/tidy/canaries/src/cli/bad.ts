// Canary: the command line gets its environment handed in.
export const x = process.env;
