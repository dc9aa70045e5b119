// The identity of EKS' node manager, as articles 001 and 002 print it from the audit log.
import type { UserInfo } from './contracts.ts';

export const nodeManagerAgent = 'vpcLambda/v0.0.0 (linux/amd64) kubernetes/$Format';

export const nodeManagerUser: UserInfo = {
  username: 'eks:node-manager',
  uid: 'aws-iam-authenticator:222222222222:AROAVCHD6X7Z3FJJXOCS7',
  groups: ['system:authenticated'],
  extra: {
    accessKeyId: ['ASIAVCHD6X7Z4V3NJOVE'],
    arn: [
      'arn:aws:sts::222222222222:assumed-role/AWSWesleyClusterManagerLambda-NodeManagerRole-1KLMR524JM08L/1664110797435635508',
    ],
    canonicalArn: [
      'arn:aws:iam::222222222222:role/AWSWesleyClusterManagerLambda-NodeManagerRole-1KLMR524JM08L',
    ],
    sessionName: ['1664110797435635508'],
  },
};
