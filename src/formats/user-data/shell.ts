// Resolves a shell script's commands with their variables: follows assignments in text order, keeps
// unknown commands opaque. Runs nothing.
import { begin, type ParseFault, type Position } from '../position.ts';
import {
  type HereDocument,
  parseShell,
  type ShellScript,
  type ShellSegment,
  type ShellWord,
} from './shell-lexer.ts';

/** A word as passed to the command, each character with its place in the script. */
export interface Field {
  readonly text: string;
  readonly offsets: readonly number[];
  /** Part of the word comes from a command or variable with an unknown value. */
  readonly isOpaque: boolean;
}

export interface Invocation {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly at: Position;
  /** The file that its output is written to, and the content of a here-document. */
  readonly output: string | undefined;
  readonly input: HereDocument | undefined;
}

export interface ReadScript {
  readonly invocations: readonly Invocation[];
  readonly faults: readonly ParseFault[];
  readonly positionOf: (offset: number) => Position;
}

/** Output of a command within $( ), if known. */
export type KnownCommand = (source: string) => string | undefined;

const nothingKnown: KnownCommand = () => undefined;
const assignment = /^([A-Za-z_]\w*)\+?=/;
const declaring = new Set(['export', 'declare', 'local', 'readonly', 'typeset']);

class Filler {
  readonly #values = new Map<string, Field>();
  readonly #known: KnownCommand;
  constructor(known: KnownCommand) {
    this.#known = known;
  }

  set(name: string, value: Field): void {
    this.#values.set(name, value);
  }

  /** Undefined when unknown. */
  #value(segment: ShellSegment): Field | undefined {
    const constant = (text: string): Field => ({
      text,
      offsets: Array.from(text, () => segment.offset),
      isOpaque: false,
    });
    if (segment.kind === 'text') {
      const offsets = Array.from({ length: segment.text.length }, (_, i) => segment.offset + i);
      return { text: segment.text, offsets, isOpaque: false };
    }
    if (segment.kind === 'command') {
      const text = this.#known(segment.source.trim());
      return text === undefined ? undefined : constant(text);
    }
    const known = this.#values.get(segment.name);
    if (known !== undefined) return known;
    return segment.fallback === undefined ? undefined : constant(segment.fallback);
  }

  /** The word as one text, as in an assignment. */
  whole(segments: readonly ShellSegment[]): Field {
    let text = '';
    const offsets: number[] = [];
    let isOpaque = false;
    for (const segment of segments) {
      const value = this.#value(segment);
      if (value === undefined || value.isOpaque) isOpaque = true;
      text += value?.text ?? '';
      // Not `push(...offsets)`, since the number of a call's arguments is limited.
      for (const offset of value?.offsets ?? []) offsets.push(offset);
    }
    return { text, offsets, isOpaque };
  }

  /** The word as passed to a command: splits the result of an unquoted expansion at blanks. */
  fields({ segments }: ShellWord): readonly Field[] {
    const fields: { text: string; offsets: number[]; isOpaque: boolean }[] = [];
    let open: { text: string; offsets: number[]; isOpaque: boolean } | undefined;
    const current = () => {
      if (open === undefined) {
        open = { text: '', offsets: [], isOpaque: false };
        fields.push(open);
      }
      return open;
    };
    for (const segment of segments) {
      const value = this.#value(segment);
      if (value === undefined) {
        current().isOpaque = true;
        continue;
      }
      const splits = segment.kind !== 'text' && !segment.quoted;
      if (value.isOpaque) current().isOpaque = true;
      if (!splits) {
        const field = current();
        field.text += value.text;
        for (const offset of value.offsets) field.offsets.push(offset);
        continue;
      }
      for (let i = 0; i < value.text.length; i++) {
        const char = value.text[i] ?? '';
        if (/\s/.test(char)) open = undefined;
        else {
          const field = current();
          field.text += char;
          field.offsets.push(value.offsets[i] ?? segment.offset);
        }
      }
    }
    return fields;
  }
}

const assignmentOf = (word: ShellWord): { name: string; value: ShellSegment[] } | undefined => {
  const [first, ...rest] = word.segments;
  if (first?.kind !== 'text' || first.quoted) return undefined;
  const match = assignment.exec(first.text);
  if (match === null) return undefined;
  const [before, name = ''] = match;
  const text = first.text.slice(before.length);
  const offset = first.offset + before.length;
  return { name, value: [{ ...first, text, offset }, ...rest] };
};

const invocationsOf = (script: ShellScript, known: KnownCommand): readonly Invocation[] => {
  const filler = new Filler(known);
  const invocations: Invocation[] = [];
  for (const { words, offset, output, input } of script.commands) {
    let i = 0;
    if (declaring.has(words[0]?.source ?? '')) i++;
    for (; i < words.length; i++) {
      const word = words[i];
      const set = word === undefined ? undefined : assignmentOf(word);
      if (set === undefined) break;
      filler.set(set.name, filler.whole(set.value));
    }
    const fields = words.slice(i).flatMap((word) => filler.fields(word));
    const [name, ...others] = fields;
    if (name === undefined && output === undefined) continue;
    invocations.push({
      name: name?.text ?? '',
      fields: others,
      at: script.positionOf(words[i]?.offset ?? offset),
      output: output === undefined ? undefined : filler.whole(output.segments).text,
      input,
    });
  }
  return invocations;
};

/** Parses a script that starts at `outer` of the file. */
export const readScript = (
  text: string,
  outer: Position = begin,
  known: KnownCommand = nothingKnown,
): ReadScript => {
  const script = parseShell(text, outer);
  return {
    invocations: invocationsOf(script, known),
    faults: script.faults,
    positionOf: script.positionOf,
  };
};

/** One word for a shell, whatever it contains; quoted only when necessary, as EKS does. */
export const shellWord = (text: string): string =>
  /^[\w.:/@=,+-]+$/.test(text) ? text : shellQuoted(text);

export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
