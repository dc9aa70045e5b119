// Why user data yields no node, or an unintended one: a rule's id, a place, a sentence.
import type { Position } from '../position.ts';

/** Ids of the rules whose violation keeps a node from joining; docs/rules has a page for each. */
export const fatalRules = [
  'MIME001',
  'MIME003',
  'MIME004',
  'MIME006',
  'MIME007',
  'MIME008',
  'ENC001',
  'SIZE001',
  'FAM001',
  'SH001',
  'SH004',
  'SH005',
  'SH006',
  'SH007',
  'SH008',
  'SH009',
  'NC002',
  'NC003',
  'NC004',
  'NC006',
  'NC009',
  'KC002',
  'KC003',
  'KC004',
  'FL002',
  'FL003',
  'FL004',
  'FL005',
  'LB001',
  'LB002',
  'TN001',
  'BR003',
  'BR004',
  'BR006',
  'WIN001',
  'WIN003',
  'WIN004',
  'WIN006',
  'CI001',
  'CI002',
  'CI003',
  'CI004',
  'CI005',
  'CI007',
  'CI008',
] as const;
export type FatalRule = (typeof fatalRules)[number];

export interface Problem<R extends string = string> {
  readonly rule: R;
  readonly at: Position;
  /** What the text contains and why it is wrong; a sentence without a full stop. */
  readonly message: string;
}

export type Obstacle = Problem<FatalRule>;

export const obstacle = (rule: FatalRule, at: Position, message: string): Obstacle => ({
  rule,
  at,
  message,
});
