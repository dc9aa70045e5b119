// How cloud-init merges several cloud-config parts, and which configuration kubeadm reads.
import type { Case, Topic } from '../topic.ts';

interface Merged {
  /**
   * The commands that run, in order: `first` and `second` from the two parts, `early` from bootcmd
   * of the first.
   */
  readonly how: string;
  /** The merge type is in the header X-Merge-Type of the second part instead. */
  readonly isHeader?: boolean;
}

const merged = (
  name: string,
  how: string,
  expected: readonly string[],
  isHeader = false,
): Case<Merged, readonly string[]> => ({ name, given: { how, isHeader }, expected });

const both = ['early', 'first', 'second'];
const later = ['early', 'second'];
const earlier = ['early', 'first'];

export const cloudConfigs: Topic<Merged, readonly string[]> = {
  topic: 'Merging of cloud-config parts',
  upstream: 'cloud-init: cloudinit/handlers/cloud_config.py, cloudinit/mergers',
  behaviour:
    'One document is made of all parts; the later part says how: nothing is dict(replace), which puts its ' +
    'lists in the place of those before; merge_how, merge_type or the header X-Merge-Type may join them',
  differences: [
    'of lists that are laid over each other item by item (list() without append) the later one counts',
  ],
  cases: [
    merged('nothing said', '', later),
    merged('append with recurse_list', "merge_how: 'list(append)+dict(recurse_list)'", both),
    merged('append with recurse_array', "merge_how: 'list(append)+dict(recurse_array)'", both),
    merged('prepend', "merge_how: 'list(prepend)+dict(no_replace,recurse_list)'", both),
    merged('append without recursion', "merge_how: 'list(append)+dict()'", earlier),
    merged('append, and dict(replace)', "merge_how: 'list(append)+dict(replace)'", later),
    merged(
      'replace goes before recursion',
      "merge_how: 'list(append)+dict(replace,recurse_list)'",
      later,
    ),
    merged('no_replace alone', "merge_how: 'dict(no_replace)'", earlier),
    merged(
      'a list of maps',
      'merge_how: [{name: list, settings: [append]}, {name: dict, settings: [recurse_list]}]',
      both,
    ),
    merged('the older name', "merge_type: 'list(append)+dict(recurse_list)+str()'", both),
    merged('the header', 'list(append)+dict(recurse_list)+str()', both, true),
    merged('a header that says nothing of maps', 'list(append)', earlier, true),
  ],
};

interface Read {
  readonly kubernetes: string;
  readonly version: string;
  readonly isList?: boolean;
}

const read = (kubernetes: string, version: string, isRead: boolean): Case<Read, boolean> => ({
  name: `kubeadm ${kubernetes} and ${version}: ${isRead ? 'read' : 'refused'}`,
  given: { kubernetes, version },
  expected: isRead,
});

export const joinConfigurations: Topic<Read, boolean> = {
  topic: 'JoinConfigurations',
  upstream: 'kubernetes: cmd/kubeadm/app/apis/kubeadm; #101129, #107013, #125029',
  behaviour:
    'v1beta1 is read from 1.13 to 1.21, v1beta2 from 1.15 to 1.26, v1beta3 from 1.22 to 1.36, v1beta4 from 1.31 on; kubeletExtraArgs is a map, ' +
    'from v1beta4 on a list of name and value',
  differences: [],
  cases: [
    read('1.12', 'v1beta1', false),
    read('1.14', 'v1beta1', true),
    read('1.14', 'v1beta2', false),
    read('1.21', 'v1beta1', true),
    read('1.22', 'v1beta1', false),
    read('1.21', 'v1beta2', true),
    read('1.21', 'v1beta3', false),
    read('1.22', 'v1beta3', true),
    read('1.26', 'v1beta2', true),
    read('1.27', 'v1beta2', false),
    read('1.30', 'v1beta3', true),
    read('1.30', 'v1beta4', false),
    read('1.31', 'v1beta3', true),
    read('1.31', 'v1beta4', true),
    read('1.36', 'v1beta3', true),
    read('1.37', 'v1beta3', false),
    read('1.37', 'v1beta4', true),
    read('1.33', 'v1beta1', false),
    read('1.33', 'v1', false),
    {
      name: 'arguments as a list in v1beta3: refused',
      given: { kubernetes: '1.33', version: 'v1beta3', isList: true },
      expected: false,
    },
    {
      name: 'arguments as a map in v1beta4: refused',
      given: { kubernetes: '1.33', version: 'v1beta4', isList: false },
      expected: false,
    },
  ],
};
