/** The events of test files that share a process, as if each had one of its own: testing/shard.ts. */
import type { TestEvent } from './report.ts';

type Result = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

/** Turns events of a shard, in which each file is a test, into events of its files. Those of a file come when it has ended. */
export function eventsByFile(shard: string, handle: (event: TestEvent) => void): (event: TestEvent) => void {
  let pending: Result[] = [];
  const files = { pass: 0, fail: 0 };
  const endFile = (event: Result): void => {
    const all = event.type === 'test:fail' ? [...pending, event] : pending;
    pending = [];
    files[event.type === 'test:pass' ? 'pass' : 'fail'] += 1;
    for (const each of all) handle(withEntry(each, event.data.name));
    handle(summaryOf(event, all));
  };
  return (event) => {
    if (event.type === 'test:pass' || event.type === 'test:fail') {
      if (event.data.name === shard) handle(event);
      else if (event.data.nesting === 0) endFile(event);
      else pending.push(event);
    } else if (event.type === 'test:diagnostic' && event.data.file === undefined) {
      handle({ type: event.type, data: { ...event.data, message: withoutFiles(event.data.message, files) } });
    } else if (event.type !== 'test:summary' || !event.data.success) {
      handle(event);
    }
  };
}

function withEntry(event: Result, entryFile: string): TestEvent {
  return event.type === 'test:pass'
    ? { type: event.type, data: Object.assign({}, event.data, { entryFile }) }
    : { type: event.type, data: Object.assign({}, event.data, { entryFile }) };
}

/** The sums of the runner without the tests that stand for files. */
function withoutFiles(message: string, files: { readonly pass: number; readonly fail: number }): string {
  const [name = '', sum = ''] = message.split(' ');
  const counts: Readonly<Record<string, number>> = { tests: files.pass + files.fail, ...files };
  return name in counts ? `${name} ${Number(sum) - (counts[name] ?? 0)}` : message;
}

function summaryOf({ type, data: { name: file, details } }: Result, results: readonly Result[]): TestEvent {
  const tests = results.filter(({ data }) => data.name !== file);
  const passed = tests.filter((result) => result.type === 'test:pass').length;
  const skipped = tests.filter(({ data }) => data.skip !== undefined && data.skip !== false).length;
  const counts = { tests: tests.length, passed, skipped, cancelled: 0, suites: 0, todo: 0, topLevel: tests.length };
  return {
    type: 'test:summary',
    data: { file, success: type === 'test:pass', duration_ms: details.duration_ms, counts },
  };
}
