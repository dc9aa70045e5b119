// A copy of the source tree that a mutant may spoil: the repository itself is never written to.
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

/** How often `text` stands in `all`. */
const occurrences = (all: string, text: string): number => all.split(text).length - 1;

export class Tree {
  readonly root: string;
  #spoilt = new Map<string, string>();

  /** Copies what a life needs from `from`. */
  constructor(from: string) {
    this.root = mkdtempSync(join(tmpdir(), 'drover-mutant-'));
    cpSync(join(from, 'src'), join(this.root, 'src'), { recursive: true });
    cpSync(join(from, 'package.json'), join(this.root, 'package.json'));
    mkdirSync(join(this.root, 'test'));
    cpSync(join(from, 'test', 'mutants'), join(this.root, 'test', 'mutants'), { recursive: true });
    symlinkSync(join(from, 'node_modules'), join(this.root, 'node_modules'));
  }

  /** Applies all edits, or none: then says which text does not stand there exactly once. */
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

  #edit({ file, find, replace }: Edit): string | undefined {
    const path = join(this.root, file);
    const text = readFileSync(path, 'utf8');
    const count = occurrences(text, find);
    if (count !== 1) return `${file} has the text ${count} times: ${JSON.stringify(find)}`;
    if (find === replace) return `${file}: nothing would change`;
    if (!this.#spoilt.has(path)) this.#spoilt.set(path, text);
    writeFileSync(
      path,
      text.replace(find, () => replace),
    );
    return undefined;
  }
}
