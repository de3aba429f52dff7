/** Asking for the actions of the administration API by their names, and which of them were asked for. */
import assert from 'node:assert/strict';
import { actions } from '../../../src/admin/actions/list.ts';
import type { Lifetime } from '../../support/database.ts';
import {
  type Answer,
  makeApplication,
  makeFirm,
  openTestService,
  type TestFirm,
  type TestService,
} from '../../support/service.ts';
import { type AdminCaller, openAdministrator } from '../world.ts';

/** A firm that has authorised an application, and an administrator of each role. */
export interface Asking {
  readonly service: TestService;
  readonly maple: TestFirm;
  readonly operator: AdminCaller;
  /** Of maple. */
  readonly practice: AdminCaller;
  /** Of the application Scheduler. */
  readonly vendor: AdminCaller;
  /** Where the clock stands. */
  readonly now: string;
  readonly later: string;
  /** The names of the actions that `act` has asked for. */
  readonly done: ReadonlySet<string>;
  /** Asks for an action by its name, which is to succeed; `path` fills the names of its path, in order. */
  act(caller: AdminCaller, name: string, path?: readonly string[], body?: object): Promise<Answer>;
}

/** What Scheduler was authorised to do at maple, as a path names it. */
export const place = ['sandbox', 'maple', 'Scheduler'] as const;

/** Opens a service of the file's own. */
export async function openAsking(lifetime: Lifetime): Promise<Asking> {
  const service = await openTestService(lifetime);
  const maple = await makeFirm(service, 'maple');
  await makeApplication(service, 'Scheduler', ['acl/pat_r', 'acl/pat_s'], [maple]);
  const done = new Set<string>();
  return {
    service,
    maple,
    operator: await openAdministrator(service, 'operator', 'operator'),
    practice: await openAdministrator(service, 'practice', 'practice', { firm: 'maple' }),
    vendor: await openAdministrator(service, 'vendor', 'vendor', { application: 'Scheduler' }),
    now: new Date(service.clock.now()).toISOString(),
    later: new Date(service.clock.now() + 86_400_000).toISOString(),
    done,
    async act(caller, name, path, body) {
      const action = actions.find((each) => each.name === name);
      if (action === undefined) throw new Error(`no action ${name}`);
      const names = [...(path ?? [])];
      const target = action.path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(names.shift() ?? ''));
      const answer = await caller.ask(action.method, target, body);
      const status = action.output.kind === 'nothing' ? 204 : action.creates === true ? 201 : 200;
      assert.equal(answer.status, status, `${name}: ${answer.text}`);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      done.add(name);
      return answer;
    },
  };
}
