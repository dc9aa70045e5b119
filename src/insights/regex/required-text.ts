// The longest text that every match of an expression contains: lines are searched for it before the
// automaton runs.
import type { Node } from './syntax.ts';

interface Runs {
  /** The only text that the node matches; undefined when it can match several. */
  readonly exact: string | undefined;
  readonly longest: string;
}

const longer = (a: string, b: string): string => (b.length > a.length ? b : a);

const runsOf = (node: Node): Runs => {
  switch (node.kind) {
    case 'set': {
      const [range] = node.ranges;
      if (node.ranges.length !== 1 || range === undefined || range[0] !== range[1]) {
        return { exact: undefined, longest: '' };
      }
      const text = String.fromCharCode(range[0]);
      return { exact: text, longest: text };
    }
    case 'sequence': {
      let run = '';
      let longest = '';
      let exact = true;
      for (const part of node.parts) {
        const runs = runsOf(part);
        if (runs.exact === undefined) {
          longest = longer(longer(longest, run), runs.longest);
          run = '';
          exact = false;
        } else run += runs.exact;
      }
      return { exact: exact ? run : undefined, longest: longer(longest, run) };
    }
    case 'group':
      return runsOf(node.body);
    case 'repeat': {
      if (node.min === 0) return { exact: undefined, longest: '' };
      const runs = runsOf(node.body);
      const isOnce = node.min === 1 && node.max === 1;
      return isOnce ? runs : { exact: undefined, longest: runs.longest };
    }
    case 'either':
      return { exact: undefined, longest: '' };
    case 'assertion':
      // An anchor matches the empty text, but it also limits what surrounds it: the required text
      // alone does not prove a match.
      return { exact: undefined, longest: '' };
  }
};

/** `isWhole`: containing the text is the expression's only condition. */
export const requiredText = (root: Node): { readonly text: string; readonly isWhole: boolean } => {
  const { exact, longest } = runsOf(root);
  return exact === undefined ? { text: longest, isWhole: false } : { text: exact, isWhole: true };
};
