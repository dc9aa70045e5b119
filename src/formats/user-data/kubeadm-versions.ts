// Which versions of its configuration a kubeadm reads, and the form of arguments in them. Sources:
// kubeadm's configuration page (v1beta1 up to 1.21), kubernetes#101129 (v1beta3, 1.22),
// kubernetes#107013 (v1beta2 up to 1.26), kubernetes#125029 (v1beta4, 1.31), kubeadm 1.37, which
// refuses v1beta3.

interface Span {
  readonly from: number;
  /** The last minor that reads it. */
  readonly to: number;
}

const spans: Readonly<Record<string, Span>> = {
  v1beta1: { from: 13, to: 21 },
  v1beta2: { from: 15, to: 26 },
  v1beta3: { from: 22, to: 36 },
  v1beta4: { from: 31, to: Number.POSITIVE_INFINITY },
};

/** The newest version that a kubeadm of that minor reads. */
export const joinVersionOf = (minor: number): string => joinVersionsOf(minor).at(-1) ?? 'v1beta1';

/** All versions, oldest first; none for a minor below 13. */
export const joinVersionsOf = (minor: number): readonly string[] =>
  Object.entries(spans)
    .filter(([, { from, to }]) => from <= minor && minor <= to)
    .map(([version]) => version);

/** v1beta4 has a list of name and value, earlier versions a map. */
export const takesArgumentList = (version: string): boolean => version === 'v1beta4';
