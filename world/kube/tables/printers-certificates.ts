// Columns of certificate requests and of RBAC kinds.
import type { JsonObject } from '../../../src/api/json.ts';
import { age, type Cell, name, type Printer, text, wide } from './columns.ts';
import { humanDuration } from './human.ts';
import { at, numberAt, objectsAt, textAt } from './read.ts';

const condition: Cell = (csr) => {
  const has = (type: string): boolean =>
    objectsAt(csr, 'status', 'conditions').some((one) => one.type === type);
  const words = [has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'];
  if (has('Failed')) words.push('Failed');
  if (textAt(csr, 'status', 'certificate') !== '') words.push('Issued');
  return words.join(',');
};

const requestedDuration: Cell = (csr) =>
  at(csr, 'spec', 'expirationSeconds') === undefined
    ? '<none>'
    : humanDuration(numberAt(csr, 'spec', 'expirationSeconds'));

const createdAt = text('Created At', (role) => textAt(role, 'metadata', 'creationTimestamp'));

const subjects =
  (kind: string): Cell =>
  (binding: JsonObject) =>
    objectsAt(binding, 'subjects')
      .filter((subject) => subject.kind === kind)
      .map((subject) =>
        kind === 'ServiceAccount'
          ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}`
          : textAt(subject, 'name'),
      )
      .join(', ');

const binding: Printer = [
  name,
  text('Role', (object) =>
    [textAt(object, 'roleRef', 'kind'), textAt(object, 'roleRef', 'name')].join('/'),
  ),
  age,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];

export const certificatePrinters: Readonly<Record<string, Printer>> = {
  'certificates.k8s.io/certificatesigningrequests': [
    name,
    age,
    text('SignerName', (csr) => textAt(csr, 'spec', 'signerName')),
    text('Requestor', (csr) => textAt(csr, 'spec', 'username')),
    text('RequestedDuration', requestedDuration),
    text('Condition', condition),
  ],
  'rbac.authorization.k8s.io/roles': [name, createdAt],
  'rbac.authorization.k8s.io/clusterroles': [name, createdAt],
  'rbac.authorization.k8s.io/rolebindings': binding,
  'rbac.authorization.k8s.io/clusterrolebindings': binding,
};
