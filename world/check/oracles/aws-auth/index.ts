// The controller's changes of kube-system/aws-auth, judged in two files.
import { both, type Oracle } from '../../oracle.ts';
import { checkEnd, checkLaunch } from './nodes.ts';
import { Roles } from './roles.ts';
import { checkWrite } from './writes.ts';

export const awsAuth: Oracle = {
  name: 'aws-auth-loses-no-entry',
  what:
    'the controller adds a role to aws-auth before its nodes start, and removes only roles ' +
    'that it added, once their nodes are gone',
  strategies: both,
  needs: ['object', 'request'],
  watch: (context) => {
    const roles = new Roles(context);
    return {
      object: (entry) => roles.object(entry),
      request: (entry) => checkWrite(context, roles, entry),
      call: (entry) => checkLaunch(context, roles, entry),
      end: () => checkEnd(context, roles),
    };
  },
};
