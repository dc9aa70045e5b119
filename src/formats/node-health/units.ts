// Parses `systemctl show` for several units: `Key=value` lines, an empty line between units.

export interface UnitState {
  readonly name: string;
  /** active, failed, inactive, activating, ... */
  readonly active: string;
  /** loaded, not-found, masked, ... */
  readonly load: string;
  readonly restarts: number;
}

/** Properties to request with `--property`. */
export const unitProperties = ['Id', 'LoadState', 'ActiveState', 'NRestarts'] as const;

export const parseUnits = (text: string): readonly UnitState[] =>
  text.split(/\n\s*\n/).flatMap((block) => {
    const values = new Map(
      block.split('\n').flatMap((line) => {
        const equals = line.indexOf('=');
        return equals < 0 ? [] : [[line.slice(0, equals), line.slice(equals + 1)] as const];
      }),
    );
    const name = values.get('Id');
    if (name === undefined || name === '') return [];
    const restarts = Number(values.get('NRestarts') ?? 0);
    return [
      {
        name,
        active: values.get('ActiveState') ?? '',
        load: values.get('LoadState') ?? '',
        restarts: Number.isSafeInteger(restarts) ? restarts : 0,
      },
    ];
  });
