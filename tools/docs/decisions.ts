/** docs/decisions/: what the heads of the records say, and the index that is printed from them. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The folder of the records, below the root. */
export const decisionsFolder = 'docs/decisions';

/** The areas, in the order of the index. */
export const areas = [
  'FHIR API',
  'search',
  'storage',
  'validation and terminology',
  'scheduling and practice',
  'access',
  'OAuth',
  'audit',
  'limits and fairness',
  'database',
  'running the service',
  'tooling and tests',
] as const;

/** How a status names another record → how the status of that record names this one. */
export const inverses: Readonly<Record<string, string>> = {
  supersedes: 'superseded by',
  'superseded by': 'supersedes',
  changes: 'changed by',
  'changed by': 'changes',
  extends: 'extended by',
  'extended by': 'extends',
};

/** What the status of a record says of another one. */
export interface Relation {
  /** A key of `inverses`. */
  readonly verb: string;
  /** The number of the other record, four digits. */
  readonly number: string;
  /** The name of its file. */
  readonly file: string;
}

export interface Decision {
  readonly file: string;
  /** The first four characters of the name of the file. */
  readonly number: string;
  /** The heading without number; undefined if there is none, or if it has another number than the file. */
  readonly title: string | undefined;
  readonly area: string | undefined;
  /** What the status says, clause by clause; undefined where a clause has no such form. */
  readonly relations: readonly (Relation | undefined)[];
  readonly isAccepted: boolean;
  /** The paths and globs in backticks that follow `Affects`. */
  readonly affectedPaths: readonly string[];
}

/** The records under `root` in the order of their numbers; the template is none. */
export function readDecisions(root: string): readonly Decision[] {
  return globSync(`${decisionsFolder}/[0-9]*.md`, { cwd: root })
    .map((path) => basename(path))
    .filter((file) => !file.startsWith('0000-'))
    .sort()
    .map((file) => parseDecision(file, readFileSync(join(root, decisionsFolder, file), 'utf8')));
}

/** The index: for each area its records, and which of them were superseded or changed. */
export function decisionIndex(root = join(import.meta.dirname, '../..')): string {
  const decisions = readDecisions(root);
  return areas
    .map((area) => [area, decisions.filter((decision) => decision.area === area)] as const)
    .filter(([, those]) => those.length > 0)
    .map(([area, those]) => [`## ${capitalise(area)}`, '', ...those.map(line)].join('\n'))
    .join('\n\n');
}

function parseDecision(file: string, text: string): Decision {
  const number = file.slice(0, 4);
  const [head = ''] = text.split('\n## ');
  const [, headed, title] = /^# (\d{4}) (.+)$/m.exec(head) ?? [];
  const fields = fieldsOf(head);
  const [state = '', ...clauses] = (fields.get('Status') ?? '').split('; ');
  return {
    file,
    number,
    title: headed === number ? title : undefined,
    area: fields.get('Area'),
    relations: clauses.map(parseRelation),
    isAccepted: state === 'accepted',
    affectedPaths: quotedIn(fields.get('Affects') ?? '').filter(isPath),
  };
}

/** `- Name: value` lines of a head; a value may go on in indented lines. */
function fieldsOf(head: string): ReadonlyMap<string, string> {
  const lines = head.replaceAll(/\n {2}/g, ' ').split('\n');
  return new Map(
    lines.flatMap((text) => {
      const [, name, value] = /^- (\w+): (.+)$/.exec(text) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** What stands in backticks. */
function quotedIn(text: string): readonly string[] {
  return text.split('`').filter((_, index) => index % 2 === 1);
}

/** Whether a text in backticks is a path or a glob, as opposed to the name of a setting, a table or a command. */
function isPath(text: string): boolean {
  return /^[\w.*{][\w.*{},/-]*$/.test(text) && (text.includes('/') || /\.(?:js|json|md|sql|ts)$/.test(text));
}

function parseRelation(clause: string): Relation | undefined {
  const [, verb, number, file] = /^([a-z ]+) \[(\d{4})\]\(([^)]+)\)(?: \([^)]+\))?$/.exec(clause) ?? [];
  if (verb === undefined || number === undefined || file === undefined) return undefined;
  return Object.hasOwn(inverses, verb) ? { verb, number, file } : undefined;
}

/** A line of the index. What extends a record takes nothing from it and is left out. */
function line({ number, title, file, relations }: Decision): string {
  const marks = ['superseded by', 'changed by'].flatMap((verb) => {
    const links = relations.flatMap((relation) =>
      relation?.verb === verb ? [`[${relation.number}](${relation.file})`] : [],
    );
    return links.length === 0 ? [] : [`${verb} ${links.join(', ')}`];
  });
  return `- ${number} [${title ?? file}](${file})${marks.length === 0 ? '' : ` (**${marks.join('; ')}**)`}`;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
