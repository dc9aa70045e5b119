// Plans a query's commands as a chain of stages. Decides where rows are kept: a `sort` is deferred
// until a `limit`, a `dedup` or the end needs its order, so that no unneeded rows are kept.
import { type CompileContext, compile } from './evaluate/compile.ts';
import { Names, type Read, type Row } from './evaluate/row.ts';
import type { Command, NamedExpression, Query } from './language/ast.ts';
import type { TimeRange } from './patterns/periods.ts';
import { planAppend } from './plan-append.ts';
import { planCidrLookup } from './plan-cidr.ts';
import { rangesOf } from './plan-diff.ts';
import { fillPlan } from './plan-fill.ts';
import { prepareJoin } from './plan-join.ts';
import {
  beyond,
  columnNames,
  countedBy,
  planAccum,
  planAny,
  planExpand,
  planFilldown,
  planJson,
  planLookup,
  planParse,
  planTotals,
  type Site,
} from './plan-rows.ts';
import { prepareSubquery } from './plan-subquery.ts';
import type { Column, Pass, Plan, PlanOptions } from './plan-types.ts';
import { compileStatsColumn } from './stages/aggregates.ts';
import { FillStage } from './stages/fill-stage.ts';
import { diffColumns, PatternStage, patternColumns } from './stages/pattern-stage.ts';
import { ElementsStage, elementsOf } from './stages/row-stages.ts';
import {
  AssignStage,
  DedupStage,
  FilterStage,
  type OrderKey,
  type Stage,
  StatsStage,
  TopStage,
} from './stages/stage.ts';

type Link = (next: Stage) => Stage;

export const planQuery = (query: Query, options: PlanOptions): Plan => {
  const planner = new Planner(options, isLimited(query.commands));
  for (const [index, command] of query.commands.entries()) {
    planner.add(command, query.commands.slice(index + 1));
  }
  return planner.plan();
};

const isLimited = (commands: readonly Command[]): boolean =>
  commands.some(({ kind }) => kind === 'limit');

class Planner {
  readonly #options: PlanOptions;
  /**
   * The query has a limit; in a query with `join`, one after it: an earlier limit does not bound
   * the joined rows.
   */
  #hasLimit: boolean;
  readonly #links: Link[] = [];
  #counts = false;
  readonly #notices = new Set<string>();
  readonly #passes: Pass[] = [];
  #names = new Names();
  /** The order that the next `limit`, `dedup` or end applies; newest first by default. */
  #order: readonly OrderKey[] | undefined;
  #isOrdered = false;
  #columns: readonly Column[] = [];
  /** Columns that precede those of commands, when the query does not select columns. */
  #usual = (): readonly Column[] => [this.#column('@timestamp'), this.#column('@message')];
  #alsoWithin: TimeRange | undefined;
  /** The grouping of the last `stats`, for `fillmissing`. */
  #bins: readonly NamedExpression[] = [];
  /** Rows are already limited to the default of a query without a limit. */
  #isCut = false;
  /** Whether a later `fields` adds columns, or a `display` has fixed them. */
  #choice: 'none' | 'fields' | 'display' | 'stats' = 'none';

  constructor(options: PlanOptions, hasLimit: boolean) {
    this.#options = options;
    this.#hasLimit = hasLimit;
  }

  get #context(): CompileContext {
    return {
      names: this.#names,
      nowMs: this.#options.nowMs,
      range: this.#options.range,
      notice: (text) => this.#notices.add(text),
      subquery: (expression) => {
        const { pass, values, notices } = prepareSubquery(expression, this.#options, planQuery);
        this.#passes.push(pass);
        for (const told of notices) this.#notices.add(told);
        return values;
      },
    };
  }

  add(command: Command, rest: readonly Command[]): void {
    switch (command.kind) {
      case 'fields':
      case 'display':
        this.#show(command.kind, command.items);
        return;
      case 'filter': {
        const condition = compile(command.condition, this.#context);
        this.#links.push((next) => new FilterStage(condition, next));
        return;
      }
      case 'stats':
        this.#stats(command);
        return;
      case 'sort':
        this.#sort(command);
        return;
      case 'limit':
        // A limit on unsorted rows may keep any of them.
        if (command.any && this.#order === undefined) planAny(this.#site, command.count);
        else this.#top(command.count);
        return;
      case 'parse':
        planParse(this.#site, command);
        return;
      case 'json':
        planJson(this.#site, command);
        return;
      case 'expand':
        planExpand(this.#site, command);
        return;
      case 'addtotals':
        planTotals(this.#site, command);
        return;
      case 'lookup':
        planLookup(this.#site, command, this.#options.lookupTables);
        return;
      case 'cidrlookup':
        planCidrLookup(this.#site, command, this.#options.lookupTables);
        return;
      case 'countFrequent':
        this.#countFrequent(command);
        return;
      case 'fillmissing':
        this.#fillMissing(command);
        return;
      case 'accum':
        planAccum(this.#site, command);
        return;
      case 'filldown':
        planFilldown(this.#site, command);
        return;
      case 'dedup':
        this.#dedup(command);
        return;
      case 'join':
        this.#join(command);
        this.#hasLimit = isLimited(rest);
        return;
      case 'appendcols':
        this.#passes.push(planAppend(this.#site, command, this.#options, planQuery));
        return;
      case 'unnest':
        this.#unnest(command);
        return;
      case 'pattern':
        this.#pattern(command, rest[0]);
        return;
      case 'diff':
      // The preceding `pattern` adds its columns.
    }
  }

  #sort(command: Command & { readonly kind: 'sort' }): void {
    const keys = command.keys.map(({ expression, descending }) => ({
      read: compile(expression, this.#context),
      descending,
    }));
    // A later sort takes precedence; the earlier one breaks its ties.
    this.#order = [...keys, ...(this.#order ?? [])];
    this.#isOrdered = false;
  }

  #fillMissing(command: Command & { readonly kind: 'fillmissing' }): void {
    const plan = fillPlan(command, this.#bins, this.#columns);
    const { budget } = this.#options;
    this.#links.push((next) => new FillStage({ ...plan, budget }, next));
  }

  #dedup(command: Command & { readonly kind: 'dedup' }): void {
    const fields = command.fields.map((field) => compile(field, this.#context));
    const keys = this.#takeOrder();
    const { budget } = this.#options;
    this.#links.push((next) => new DedupStage({ fields, keys, budget }, next));
  }

  #unnest(command: Command & { readonly kind: 'unnest' }): void {
    const elements = elementsOf(compile(command.field, this.#context));
    const slot = this.#define(command.alias);
    this.#countMatches();
    this.#addColumn(command.alias);
    this.#links.push((next) => new ElementsStage(elements, slot, next));
  }

  #join(command: Command & { readonly kind: 'join' }): void {
    const left = { names: this.#names, columns: this.#shown };
    const { pass, names, link, columns, notices } = prepareJoin(
      command,
      left,
      this.#options,
      planQuery,
    );
    this.#passes.push(pass);
    for (const told of notices) this.#notices.add(told);
    this.#countMatches();
    this.#links.push(link);
    this.#names = names;
    this.#bins = [];
    this.#isCut = false;
    // Resets the columns: all of both sides, unless the query selects some.
    this.#usual = columns;
    this.#columns = [];
    this.#choice = 'none';
  }

  /** Counts matches here, because later stages receive fewer rows. */
  #countMatches(): void {
    if (this.#counts) return;
    this.#counts = true;
    const { onMatch } = this.#options;
    this.#links.push((next) => new AssignStage(onMatch, next));
  }

  #define(name: string): number {
    const { names, slot } = this.#names.with(name);
    this.#names = names;
    return slot;
  }

  #column(name: string): Column {
    return { name, read: this.#names.read(name, [name]) };
  }

  #addColumn(name: string): void {
    if (this.#choice === 'display') return;
    const others = this.#columns.filter((column) => column.name !== name);
    this.#columns = [...others, this.#column(name)];
  }

  #show(kind: 'fields' | 'display', items: readonly NamedExpression[]): void {
    const shown: Column[] = [];
    const assigned: { readonly slot: number; readonly read: Read }[] = [];
    for (const { expression, alias, text } of items) {
      const read = compile(expression, this.#context);
      const isPlain = expression.kind === 'field' && alias === undefined;
      if (isPlain) shown.push({ name: text, read });
      else {
        const name = alias ?? text;
        const slot = this.#define(name);
        assigned.push({ slot, read });
        shown.push({ name, read: (row) => row.slots[slot] });
      }
    }
    if (assigned.length > 0) {
      const assign = (row: Row): void => {
        for (const { slot, read } of assigned) row.slots[slot] = read(row);
      };
      this.#links.push((next) => new AssignStage(assign, next));
    }
    if (kind === 'display') {
      this.#columns = shown;
      this.#choice = 'display';
      return;
    }
    if (this.#choice === 'display') return;
    const names = new Set(shown.map((column) => column.name));
    const others = this.#columns.filter((column) => !names.has(column.name));
    this.#columns = [...others, ...shown];
    if (this.#choice === 'none') this.#choice = 'fields';
  }

  #stats(command: Command & { readonly kind: 'stats' }): void {
    const context = this.#context;
    const by = command.by.map(({ expression }) => compile(expression, context));
    const columns = command.aggregates.map((one) => compileStatsColumn(one.expression, context));
    const names = columnNames([...command.by, ...command.aggregates]);
    const { budget } = this.#options;
    this.#countMatches();
    this.#links.push((next) => new StatsStage({ by, columns, budget }, next));
    this.#close(names);
    this.#bins = command.by;
  }

  /** Exact; an approximate count is allowed. */
  #countFrequent(command: Command & { readonly kind: 'countFrequent' }): void {
    const alias = '_approxcount';
    this.#stats(countedBy(command, alias));
    this.#order = [{ read: this.#names.read(alias, [alias]), descending: true }];
    this.#isOrdered = false;
  }

  /** From here on, rows have only these columns, in their own order. */
  #close(columns: readonly string[]): void {
    const { names, slots } = this.#names.closed(columns);
    this.#names = names;
    // Counting does not depend on the order of rows.
    this.#order = undefined;
    this.#isOrdered = true;
    this.#choice = 'stats';
    this.#bins = [];
    this.#columns = columns.map((name, index) => {
      const slot = slots[index] ?? 0;
      return { name, read: (row: Row) => row.slots[slot] };
    });
  }

  #pattern(
    { operand }: Command & { readonly kind: 'pattern' },
    following: Command | undefined,
  ): void {
    const read = compile(operand, this.#context);
    const { budget, range } = this.#options;
    const ranges = rangesOf(following, range);
    this.#alsoWithin = ranges?.[1];
    this.#countMatches();
    this.#links.push((next) => new PatternStage({ read, ranges, budget }, next));
    this.#close([...patternColumns, ...(ranges === undefined ? [] : diffColumns)]);
  }

  get #site(): Site {
    const show = (column: Column, where: 'in place' | 'last'): void => {
      const at = this.#columns.findIndex(({ name }) => name === column.name);
      if (at >= 0 && (where === 'in place' || this.#choice === 'display')) {
        this.#columns = this.#columns.with(at, column);
      } else if (this.#choice !== 'display') {
        this.#columns = [...this.#columns.filter((_, index) => index !== at), column];
      }
    };
    const shown = () => this.#shown;
    return {
      context: this.#context,
      get columns() {
        return shown();
      },
      link: (link) => this.#links.push(link),
      define: (name) => this.#define(name),
      show,
      inOrder: () => this.#top(Number.MAX_SAFE_INTEGER),
      cut: (notice) => this.#cut(notice),
      countMatches: () => this.#countMatches(),
      onDone: this.#options.onDone,
    };
  }

  /** The current order; later stages receive rows in it. */
  #takeOrder(): readonly OrderKey[] {
    this.#countMatches();
    const newest = { read: this.#names.read('@timestamp', ['@timestamp']), descending: true };
    const keys = this.#order ?? (this.#isOrdered ? [] : [newest]);
    this.#order = undefined;
    this.#isOrdered = true;
    return keys;
  }

  #top(count: number): void {
    const keys = this.#takeOrder();
    const { budget } = this.#options;
    this.#links.push((next) => new TopStage({ keys, count, budget }, next));
  }

  #cut(notice: (rows: number) => string): void {
    const { defaultLimit } = this.#options;
    this.#isCut = !this.#hasLimit && defaultLimit !== undefined;
    if (defaultLimit !== undefined && this.#isCut) {
      const tell = (): unknown => this.#notices.add(notice(defaultLimit));
      this.#links.push((next) => new AssignStage(beyond(defaultLimit, tell), next));
    }
    this.#top((this.#isCut ? defaultLimit : undefined) ?? Number.MAX_SAFE_INTEGER);
  }

  get #shown(): readonly Column[] {
    return this.#choice === 'none' ? [...this.#usual(), ...this.#columns] : this.#columns;
  }

  plan(): Plan {
    const { defaultLimit } = this.#options;
    if (defaultLimit === undefined) this.#countMatches();
    else if (!this.#hasLimit && !this.#isCut) this.#top(defaultLimit);
    else if (this.#order !== undefined) this.#top(Number.MAX_SAFE_INTEGER);
    return {
      connect: (sink) => this.#links.reduceRight((next, link) => link(next), sink),
      columns: this.#shown,
      names: this.#names,
      hasPointers: this.#names.isOpen,
      notices: () => [...this.#notices],
      alsoWithin: this.#alsoWithin,
      passes: this.#passes,
    };
  }
}
