// Certificate requests of kubelets that nobody has answered: without its client certificate a kubelet that
// came with a bootstrap token registers no node, without the one for serving nobody reads its logs. Pure.
import type { JoinCause, JoiningInstance, UnansweredRequest } from './joining-evidence.ts';

const remedyOf = ({ name, isDenied }: UnansweredRequest): readonly string[] =>
  isDenied
    ? [`$ kubectl delete csr ${name}`, 'The kubelet asks anew; see first who denied it, and why']
    : [
        `$ kubectl describe csr ${name}`,
        '`drover controller --approve-certificates` approves what is the instance’s own; an event on the ' +
          'request says why it does not',
      ];

const word = ({ isDenied }: UnansweredRequest): string => (isDenied ? 'denied' : 'pending');

export const requestCause = (instance: JoiningInstance): JoinCause | undefined => {
  const { node, requests = [], instanceId } = instance;
  const kind = node === undefined ? 'client' : 'serving';
  const request = requests.find((one) => one.kind === kind);
  if (request === undefined) return undefined;
  const { name, since } = request;
  return {
    code: request.isDenied ? 'CertificateDenied' : 'CertificatePending',
    certainty: kind === 'client' ? 'shown' : 'possible',
    what:
      kind === 'client'
        ? `its request for a client certificate is ${word(request)}: the kubelet registers no node`
        : `its request for a serving certificate is ${word(request)}: logs and exec of its pods fail`,
    evidence: [`certificate request ${name} of ${instanceId}: ${word(request)} since ${since}`],
    remedy: remedyOf(request),
    instances: [instanceId],
  };
};
