// Others may change the size of a group at any time; its NodeGroup then reports that size.
import { both, type Oracle } from '../../oracle.ts';
import { reportedExemptions, watchReported } from './reported.ts';
import { watchWrittenBack, writtenBackExemptions } from './written-back.ts';

export const following: Oracle = {
  name: 'sizes-of-others-are-followed',
  what: 'a NodeGroup adopts only sizes that others set, and once settled reports the real size',
  strategies: both,
  needs: ['object'],
  exemptions: [...writtenBackExemptions, ...reportedExemptions],
  watch: (context) => [watchWrittenBack(context), watchReported(context)],
};
