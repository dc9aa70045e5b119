// Detects user data written for a family other than the image's: it may look valid, but the node
// does not read it. Judged by the text's own content; text without a recognizable family is
// ignored.
import { begin, type Position } from '../position.ts';
import type { Bootstrap } from '../user-data/bootstrap.ts';
import { type Family, guessFamily } from '../user-data/families.ts';
import { type Obstacle, obstacle } from './problem.ts';

const nameOf: Readonly<Record<Family, string>> = {
  al2: 'Amazon Linux 2',
  al2023: 'Amazon Linux 2023',
  bottlerocket: 'Bottlerocket',
  windows: 'Windows',
  ubuntu: 'Ubuntu',
  'cloud-init': 'an image with kubeadm',
};

const wordOf: Readonly<Record<Family, string>> = {
  al2: 'a call of /etc/eks/bootstrap.sh',
  ubuntu: 'a call of /etc/eks/bootstrap.sh',
  al2023: 'a NodeConfig',
  bottlerocket: 'settings in TOML',
  windows: 'a <powershell> tag',
  'cloud-init': 'kubeadm join',
};

/** Ubuntu's images use Amazon Linux 2's script. */
const scriptOf = (family: Family): Family => (family === 'ubuntu' ? 'al2' : family);

const spokenOf = (bootstrap: Bootstrap): { family: Family; at: Position } | undefined => {
  const { data, calls, joins, scripts } = bootstrap;
  const family = guessFamily(data.text);
  if (family === undefined) return undefined;
  const whole = { family, at: data.parts[0]?.at ?? begin };
  // Any shell script resembles Amazon Linux 2's, any cloud-config resembles kubeadm's.
  if (family === 'al2') {
    const [call] = calls;
    if (call !== undefined) return { family, at: call.at };
    const isRead = scripts.length > 0 || !data.text.includes('/etc/eks/bootstrap.sh');
    return isRead ? undefined : whole;
  }
  if (family === 'cloud-init') {
    const [join] = joins;
    return join && { family, at: join.at };
  }
  return whole;
};

/** The part that the image's family reads already configures a node: then nothing is wrong. */
const readsItsOwn = ({ data, calls, joins }: Bootstrap): boolean => {
  const family = scriptOf(data.family);
  return (family === 'al2' && calls.length > 0) || (family === 'cloud-init' && joins.length > 0);
};

export const otherFamilyProblems = (bootstrap: Bootstrap): readonly Obstacle[] => {
  const { family } = bootstrap.data;
  const spoken = spokenOf(bootstrap);
  if (spoken === undefined || scriptOf(spoken.family) === scriptOf(family)) return [];
  if (readsItsOwn(bootstrap)) return [];
  const message =
    `this is user data for ${nameOf[spoken.family]} (${wordOf[spoken.family]}), and the image is ` +
    `${nameOf[family]}, which reads ${wordOf[family]}`;
  return [obstacle('FAM001', spoken.at, message)];
};
