/** The administration API of a process that may never be asked: its actions are loaded by the first request. */
import type { Administration, AdministrationOptions } from './administration.ts';

/** As `openAdministration`, at the first request. */
export function openAdministrationOnDemand(options: AdministrationOptions): Administration {
  let opening: Promise<Administration> | undefined;
  return {
    async answer(request) {
      opening ??= import('./administration.ts').then(({ openAdministration }) => openAdministration(options));
      return await (await opening).answer(request);
    },
  };
}
