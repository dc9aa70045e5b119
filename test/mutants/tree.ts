// A copy of the source tree for mutants: the repository itself is never written to.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Edit, Mutant } from './mutant.ts';

type Edited = { readonly text: string } | { readonly complaint: string };

/** `text` with the mistake, or why it cannot be applied. */
export const plant = (text: string, { file, find, replace }: Edit): Edited => {
  const count = text.split(find).length - 1;
  if (find === replace) return { complaint: `${file}: nothing would change` };
  if (count === 1) return { text: text.replace(find, () => replace) };
  return { complaint: `${file} has this ${count} times instead of once: ${JSON.stringify(find)}` };
};

export class Tree {
  readonly root: string;
  #spoilt = new Map<string, string>();

  /** Copies the files that a life needs from `from`. */
  constructor(from: string) {
    this.root = mkdtempSync(join(tmpdir(), 'drover-mutant-'));
    for (const tree of ['src', 'world']) {
      cpSync(join(from, tree), join(this.root, tree), { recursive: true });
    }
    cpSync(join(from, 'package.json'), join(this.root, 'package.json'));
    mkdirSync(join(this.root, 'test'));
    for (const tree of ['mutants', 'builders']) {
      cpSync(join(from, 'test', tree), join(this.root, 'test', tree), { recursive: true });
    }
    symlinkSync(join(from, 'node_modules'), join(this.root, 'node_modules'));
  }

  /** Applies all edits or none; returns the texts that do not occur exactly once. */
  apply(mutant: Mutant): readonly string[] {
    this.restore();
    const complaints: string[] = [];
    for (const edit of mutant.edits) {
      const complaint = this.#edit(edit);
      if (complaint !== undefined) complaints.push(complaint);
    }
    if (complaints.length > 0) this.restore();
    return complaints;
  }

  restore(): void {
    for (const [path, text] of this.#spoilt) writeFileSync(path, text);
    this.#spoilt = new Map();
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #edit(edit: Edit): string | undefined {
    const path = join(this.root, edit.file);
    const before = readFileSync(path, 'utf8');
    const planted = plant(before, edit);
    if ('complaint' in planted) return planted.complaint;
    if (!this.#spoilt.has(path)) this.#spoilt.set(path, before);
    writeFileSync(path, planted.text);
    return undefined;
  }
}
