/** The cases of the pages of Subscriptions R5 Backport. */

import { runPage } from './run.ts';
import { subscriptions } from './subscriptions.ts';

await runPage(subscriptions);
