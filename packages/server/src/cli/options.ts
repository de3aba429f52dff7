/** Options that many hand-written commands take, and the firms that they name. */
import type { Platform } from '../app.ts';
import { type Firm, getFirm, listFirms } from '../tenancy/firms.ts';
import type { CommandInput, OptionSpec } from './command.ts';

export const environmentOption = {
  environment: { kind: 'value', description: 'The environment', default: 'sandbox', place: 'environment' },
} as const satisfies Record<string, OptionSpec>;

export const firmOption = {
  firm: { kind: 'value', description: 'Prefix of the firm', required: true, place: 'firm' },
} as const satisfies Record<string, OptionSpec>;

export const firmsOption = {
  firm: { kind: 'value', description: 'Prefix of a firm. The default is all firms', place: 'firm' },
} as const satisfies Record<string, OptionSpec>;

/** The firm called `prefix` in the environment that the command line names. */
export function findNamedFirm(platform: Platform, input: CommandInput, prefix: string): Promise<Firm> {
  return getFirm(platform.database, input.required('environment'), prefix);
}

/** The firm of `firmsOption`, or all of the environment. */
export async function listSelectedFirms(platform: Platform, input: CommandInput): Promise<readonly Firm[]> {
  const prefix = input.option('firm');
  return prefix === undefined
    ? await listFirms(platform.database, input.required('environment'))
    : [await findNamedFirm(platform, input, prefix)];
}
