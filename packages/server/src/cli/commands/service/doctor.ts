/** `praxis doctor`: what is wrong with a set-up, and what to mend. */
import type { Command } from '../../command.ts';
import { examine } from '../../doctor/examine.ts';
import type { Finding } from '../../doctor/finding.ts';

/** How long connections that do not end may keep the process, in ms. */
const lingerMs = 1_000;

export const doctorCommands: readonly Command[] = [
  {
    name: 'doctor',
    summary: 'Check keys, clock, disk, database, ports, proxies and TLS, and say what to mend',
    description:
      'It changes nothing, starts nothing and prints no secrets. Run it with the settings of the service, as its user, while the service runs or before its start. The exit status is 1 when there is a problem.',
    arguments: [],
    options: { json: { kind: 'flag', description: 'Print JSON' } },
    async run({ config, print }, input) {
      const findings = await examine(config);
      const isSound = findings.every(({ verdict }) => verdict !== 'problem');
      if (input.flag('json')) print(JSON.stringify({ sound: isSound, findings }, undefined, 2));
      else for (const line of formatFindings(findings)) print(line);
      if (!isSound) process.exitCode = 1;
      setTimeout(() => process.exit(), lingerMs).unref();
    },
  },
];

function formatFindings(findings: readonly Finding[]): readonly string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, verdict, text, mend }) => [
    `${verdict.padEnd(7)}  ${check.padEnd(width)}  ${text}`,
    ...(mend === undefined ? [] : [`${' '.repeat(7)}  ${' '.repeat(width)}  mend: ${mend}`]),
  ]);
  return [...lines, '', summarize(findings)];
}

/** `2 problems, 1 warning` */
function summarize(findings: readonly Finding[]): string {
  const count = (verdict: Finding['verdict'], one: string): string => {
    const number = findings.filter((finding) => finding.verdict === verdict).length;
    return `${number === 0 ? 'no' : number} ${one}${number === 1 ? '' : 's'}`;
  };
  return `${count('problem', 'problem')}, ${count('warning', 'warning')}`;
}
