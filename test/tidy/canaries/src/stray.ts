// Canary: files outside every room are reported.
export const x = 1;
