/** `praxis synthetic`: fill a firm with a made-up practice of any size. */
import { toDayStart } from '../../../synthetic/zoned-time.ts';
import { type Command, UsageError } from '../../command.ts';
import { environmentOption, findNamedFirm } from '../../options.ts';
import { loadPractice } from '../../sandbox/practice.ts';

const patientsMax = 5_000_000;

export const syntheticCommands: readonly Command[] = [
  {
    name: 'synthetic',
    summary: 'Fill a firm with a synthetic practice, the same for the same seed and day',
    arguments: [{ label: 'FIRM', description: 'Prefix of the firm', place: 'firm' }],
    options: {
      ...environmentOption,
      patients: { kind: 'value', description: 'The number of patients', default: '500' },
      seed: { kind: 'value', description: 'Any text', default: 'praxis' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const patients = Number(input.required('patients'));
      if (!Number.isSafeInteger(patients) || patients < 1 || patients > patientsMax)
        throw new UsageError(`--patients must be a number from 1 to ${patientsMax}`);
      const firm = await findNamedFirm(platform, input, input.argument(0));
      const options = { seed: input.required('seed'), patients, todayMs: toDayStart(platform.clock.now()) };
      const stored = await loadPractice(platform, firm, options, (count) => context.progress(`\r${count} resources`));
      context.progress('\n');
      context.print(`${stored} resources at ${firm.prefix}`);
    },
  },
];
