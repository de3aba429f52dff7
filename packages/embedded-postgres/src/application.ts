/** The program that uses the server: what names begin with, and what messages tell its operator to do. */
export interface Application {
  /** Lower-case letters: the name of the database, and the beginning of those of roles, files and settings. */
  readonly name: string;
  /** What sets the directory of the data. */
  readonly dataDirSetting: string;
  /** What to do to use another database instead, as an imperative. */
  readonly useOtherDatabase: string;
}

/** `superuser` only makes the other two; `owner` owns the database; `runtime` owns nothing. */
export type Role = 'superuser' | 'owner' | 'runtime';

export function buildRoleName({ name }: Application, role: Role): string {
  return `${name}_${role}`;
}
