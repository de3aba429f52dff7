/** A row of the tables of settings. */

export type Kind = 'string' | 'integer' | 'boolean' | 'origin' | 'map' | 'list' | 'choice';

export interface SettingRow {
  readonly env: string;
  readonly kind: Kind;
  readonly default: string;
  readonly description: string;
  /** Of a choice: all that it may be. */
  readonly values?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** Never printed. */
  readonly secret?: true;
}
