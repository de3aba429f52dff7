/**
 * `sandbox.json`: the credentials of the seeded environments, for people and programs that try the service (design: the
 * set-up contract). Only sandboxes that this program seeded have one; it is readable by its owner alone.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { StartError } from '../../base/start-error.ts';

export interface SandboxCredentials {
  readonly apiKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface LegacyCredentials {
  readonly apiKey: string;
  readonly username: string;
  readonly password: string;
}

export interface SandboxApplication {
  readonly name: string;
  /** Prefixes of the firms that authorised it. */
  readonly firms: readonly string[];
  readonly acl: readonly string[];
  readonly client: SandboxCredentials;
  /** By firm prefix. */
  readonly legacy: Readonly<Record<string, LegacyCredentials>>;
}

export interface SandboxEnvironment {
  readonly environment: string;
  readonly product: string;
  readonly realm: string;
  readonly firms: readonly string[];
  readonly applications: readonly SandboxApplication[];
}

export interface SandboxAdministrator {
  readonly username: string;
  readonly password: string;
}

export interface SandboxFile extends SandboxEnvironment {
  readonly origin: string;
  /** The other environments. */
  readonly others: readonly SandboxEnvironment[];
  /** An operator; absent in files of sandboxes that were seeded before there were administrators. */
  readonly admin?: SandboxAdministrator;
}

export function buildSandboxPath(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'sandbox.json');
}

/**
 * The file's content, or undefined when there is none: then the sandbox was never seeded to its end.
 * @throws StartError when it is broken
 */
export function readSandbox(dataDir: string): SandboxFile | undefined {
  const file = buildSandboxPath(dataDir);
  if (!existsSync(file)) return undefined;
  const content = parsed(readFileSync(file, 'utf8'));
  if (isSandboxFile(content)) return content;
  throw new StartError(
    `${file} is broken: it is cut or changed, and holds no credentials of a sandbox; put it back from a copy, or move it away to start without it and issue credentials with praxis key and praxis client`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the members are there that are read; this program has written the others with them. */
function isSandboxFile(value: unknown): value is SandboxFile {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['origin', 'environment', 'product', 'realm'].every((name) => typeof Reflect.get(value, name) === 'string') &&
    ['firms', 'applications', 'others'].every((name) => Array.isArray(Reflect.get(value, name)))
  );
}

/** Replaces the file as a whole. */
export function writeSandbox(dataDir: string, content: SandboxFile): void {
  const file = buildSandboxPath(dataDir);
  const partial = `${file}.partial`;
  writeFileSync(partial, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  chmodSync(partial, 0o600);
  renameSync(partial, file);
}

/** Stands from the beginning of a seeding to its end: what an interrupted one left behind may be removed. */
const seedingFile = (dataDir: string): string => path.join(path.resolve(dataDir), 'sandbox.seeding');

export function beginSeeding(dataDir: string): void {
  mkdirSync(path.resolve(dataDir), { recursive: true });
  writeFileSync(seedingFile(dataDir), '', { mode: 0o600 });
}

export function endSeeding(dataDir: string): void {
  rmSync(seedingFile(dataDir), { force: true });
}

export function isSeeding(dataDir: string): boolean {
  return existsSync(seedingFile(dataDir));
}
