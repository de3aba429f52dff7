/**
 * The product as a process of its own: started by a bench, ended by its parent.
 */
import { openPlatform, startService } from '../../packages/server/src/app.ts';
import { readConfig } from '../../packages/server/src/base/config.ts';
import { openLog } from '../../packages/server/src/base/log.ts';
import { answerParent } from './answer-parent.ts';

const config = readConfig(process.env);
const platform = await openPlatform({ config, log: openLog(config.logLevel) });
const service = await startService(platform);
answerParent(service.origin, async () => {
  await service.drain();
  await platform.close();
});
