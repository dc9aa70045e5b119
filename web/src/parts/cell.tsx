// One node of the fleet as a cell or, in a small fleet, as a card. Follows its own row only. Hover
// and focus are handled by the fleet for all cells at once.
import type { PageNode } from '../../../src/api/page.ts';
import { matches, wanted } from '../derived.ts';
import { percent, shortNode } from '../format.ts';
import { tables } from '../store.ts';
import { letters, nodeDetails, nodeSentence } from '../words.ts';

export type CellSize = 'card' | 'tile' | 'dot';

const shareStyle = ({ cpu, memory }: PageNode) => ({
  '--cpu': `${Math.min(100, Math.round((cpu ?? 0) * 100))}%`,
  '--memory': `${Math.min(100, Math.round((memory ?? 0) * 100))}%`,
});

const classOf = (node: PageNode): string => {
  const isOut = wanted.value.length > 0 && !matches(node);
  return [
    'cell',
    `t-${letters[node.letter].tone}`,
    ...(node.letter === '' ? [] : [`l-${node.letter}`]),
    ...(node.isOld ? ['old'] : []),
    ...(node.wait !== null && node.wait.cause !== 'progress' ? ['waits'] : []),
    ...(isOut ? ['out'] : []),
  ].join(' ');
};

const CardFace = ({ node }: { readonly node: PageNode }) => (
  <>
    <span class="cardname mono">
      <bdi>{shortNode(node.key)}</bdi>
    </span>
    <span class="cardstate">
      {node.letter === '' ? (
        <span class="quiet">{node.pods} pods</span>
      ) : (
        <span class={`tag ${letters[node.letter].tone}`}>{letters[node.letter].name}</span>
      )}
      {node.isOld && <span class="quiet">old</span>}
      {node.isSpot && <span class="quiet">spot</span>}
    </span>
    <span class="unseen">{nodeDetails(node)}</span>
    <small aria-hidden="true">cpu</small>
    <span class="meter" title={`CPU ${percent(node.cpu)}`}>
      <span class="cpu" />
    </span>
    <small aria-hidden="true">mem</small>
    <span class="meter" title={`memory ${percent(node.memory)}`}>
      <span class="memory" />
    </span>
  </>
);

export const Cell = ({ name, size }: { readonly name: string; readonly size: CellSize }) => {
  const node = tables.node.of(name);
  if (node === undefined) return null;
  return (
    <button
      type="button"
      tabIndex={-1}
      class={classOf(node)}
      style={shareStyle(node)}
      data-node={name}
      {...(size === 'card' ? {} : { 'aria-label': nodeSentence(node) })}
    >
      {size === 'card' ? <CardFace node={node} /> : node.letter}
    </button>
  );
};
