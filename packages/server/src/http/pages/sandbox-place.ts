/**
 * Which firm the pages of the documentation name: one of the sandbox that `npm start` has seeded, and none elsewhere. What is
 * read is `sandbox.json` (cli/sandbox/credentials.ts), but none of its credentials.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface SandboxPlace {
  readonly origin: string;
  readonly environment: string;
  readonly product: string;
  readonly realm: string;
  readonly firm: string;
}

/** The first firm of the sandbox; undefined where none was seeded here. */
export function findSandboxPlace(dataDir: string): SandboxPlace | undefined {
  const file = readObject(path.join(path.resolve(dataDir), 'sandbox.json'));
  const { origin, environment, product, realm, firms } = file;
  const firm: unknown = Array.isArray(firms) ? firms[0] : undefined;
  const values = { origin, environment, product, realm, firm };
  return Object.values(values).every((value) => typeof value === 'string') ? (values as SandboxPlace) : undefined;
}

/** Empty where there is no such file, or none that can be read: the pages do without. */
function readObject(file: string): Readonly<Record<string, unknown>> {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
