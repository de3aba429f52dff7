/** The tables of the architecture as Markdown, for docs/contribute/architecture.md. */
import { code, table } from '../docs/markdown.ts';
import {
  builtinImporters,
  dependencyImporters,
  featureImports,
  filesOfFolderMax,
  forbiddenWords,
  linesMax,
  type ModuleRow,
  makers,
  packages,
  regExpComposers,
  sideModules,
  tiers,
} from './table.ts';

/** Blocks by the name of their markers. */
export function architectureBlocks(): ReadonlyMap<string, string> {
  return new Map([
    ['packages', packageTable()],
    ['tiers', tierTable()],
    ['importers', importerTable()],
    ['makers', makerTable()],
    ['files', fileRules()],
  ]);
}

function packageTable(): string {
  const rows = Object.entries(packages).map(([name, rule]) => {
    const imports = rule.imports.map(code).join(', ') || 'none of ours';
    const { pure, nodeFiles = [] } = rule;
    const exceptions = nodeFiles.length === 0 ? '' : `, ${nodeFiles.map(code).join(', ')} aside`;
    const notes = pure ? [`nothing of Node or of others${exceptions}`] : [];
    return [code(`packages/${name}`), rule.purpose, [imports, ...notes].join('; ')];
  });
  return table(['Package', 'Purpose', 'May import'], rows);
}

function tierTable(): string {
  const describe = ({ name, purpose }: ModuleRow) => `${code(name)} (${purpose})`;
  const rows = tiers.map(({ name, groups }, tier) => {
    const modules = groups.map((group) => group.map(describe).join(' · ')).join(' → ');
    return [`${tier} ${name}`, modules];
  });
  const beside = sideModules.map((row) => ['beside', describe(row)]);
  return table(['Tier', 'Modules, left to right'], [...rows, ...beside]);
}

function importerTable(): string {
  const rows = Object.entries({ ...dependencyImporters, ...builtinImporters })
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, importers]) => [code(name), importers.map(code).join(', ') || 'nobody']);
  return table(['Imported', 'Only by'], rows);
}

function makerTable(): string {
  const rows = makers.map(({ name, file, callers, reason }) => [
    code(name),
    code(file),
    callers.map(code).join(', '),
    reason,
  ]);
  return table(['Function', 'File', 'Called by', 'Because'], rows);
}

function fileRules(): string {
  const composers = Object.entries(regExpComposers).map(([path, reason]) => `${code(path)} (${reason})`);
  const features = Object.entries(featureImports).flatMap(([feature, others]) =>
    others.length === 0 ? [] : [`${code(feature)} imports ${others.map(code).join(', ')}`],
  );
  const words = [...forbiddenWords].map(code).join(', ');
  return [
    `- A source file has ${linesMax.source} lines at most, a test file ${linesMax.test}; directories named \`generated\` are exempt.`,
    `- A folder holds ${filesOfFolderMax} source files at most, tests and migrations aside.`,
    `- No file or directory is named ${words}.`,
    '- Files do not import each other in a circle; type imports count.',
    '- The name of an exported function begins with a verb: it is neither a participle nor `…Of`.',
    '- No name is exported with two meanings by one module of the server, or by two of which one imports the other. A package counts as a module.',
    '- Features of the practice do not import each other, except in these cases:',
    ...features.map((feature) => `  - ${feature}`),
    '- Regular expressions are literals; those of a sender are matched by re2js, under the budget. Composed ones are in these files alone:',
    ...composers.map((composer) => `  - ${composer}`),
  ].join('\n');
}
