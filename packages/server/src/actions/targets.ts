/** What the segments of an action's path name. */
import { fail } from '../base/errors.ts';
import { type Application, findApplication, getApplication } from '../tenancy/applications.ts';
import { findAuthorisation, listFirmsOfApplication } from '../tenancy/authorisations.ts';
import { type Firm, getFirm } from '../tenancy/firms.ts';
import type { ActionContext } from './action.ts';

type Reader = Pick<ActionContext, 'database'>;
type FirmSegments = Readonly<Record<'environment' | 'firm', string>>;
type ApplicationSegments = Readonly<Record<'environment' | 'application', string>>;

/** @throws PraxisError `resource-not-found` */
export function getTargetFirm({ database }: Reader, { environment, firm }: FirmSegments): Promise<Firm> {
  return getFirm(database, environment, firm);
}

/** @throws PraxisError `resource-not-found` */
export function getTargetApplication(
  { database }: Reader,
  { environment, application }: ApplicationSegments,
): Promise<Application> {
  return getApplication(database, environment, application);
}

/**
 * Firm and application of a path. One that does not exist is answered like one that the firm has never authorised, so that nobody
 * learns which applications there are.
 * @throws PraxisError `resource-not-found`
 */
export async function getAuthorisedTargets(
  context: Reader,
  path: FirmSegments & ApplicationSegments,
): Promise<{ readonly firm: Firm; readonly application: Application }> {
  const firm = await getTargetFirm(context, path);
  const application = await findApplication(context.database, path.environment, path.application);
  const found = application && (await findAuthorisation(context.database, firm, application));
  return application === undefined || found === undefined
    ? refuseNotAuthorised(firm, path.application)
    : { firm, application };
}

/** What the path of an action for vendors names: `at` is a firm, by its prefix. */
export interface PlaceOfApplication {
  readonly environment: string;
  readonly application: string;
  readonly at: string;
}

/**
 * An application and a firm that has authorised it, once or still. A firm that has not is answered like one that does not exist:
 * a vendor learns of no firm that has nothing to do with its application.
 * @throws PraxisError `resource-not-found`
 */
export async function getPlaceOfApplication(
  context: Reader,
  path: PlaceOfApplication,
): Promise<{ readonly firm: Pick<Firm, 'id' | 'prefix'>; readonly application: Application }> {
  const application = await getTargetApplication(context, path);
  const [firm] = await listFirmsOfApplication(context.database, application, path.at);
  if (firm !== undefined) return { firm, application };
  return fail('resource-not-found', {
    diagnostics: `firm ${path.at} has not authorised ${application.name}`,
    expression: ['firm'],
  });
}

/** @throws PraxisError `resource-not-found` */
export function refuseNotAuthorised(firm: Firm, application: string): never {
  return fail('resource-not-found', {
    diagnostics: `firm ${firm.prefix} has not authorised ${application}`,
    expression: ['application'],
  });
}

/** The number that a segment is. @throws PraxisError `resource-not-found` naming what the number is of */
export function parseSegmentNumber(what: string, text: string): number {
  const number = Number(text);
  if (/^[1-9]\d{0,9}$/.test(text) && number < 2 ** 31) return number;
  return fail('resource-not-found', { diagnostics: `${what} is a number that its list shows`, expression: [what] });
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws PraxisError `resource-not-found` naming what the segment is of, where it cannot be one */
export function requireUuid(what: string, text: string): void {
  if (uuidPattern.test(text)) return;
  fail('resource-not-found', { diagnostics: `${what} is an id that its list shows`, expression: [what] });
}
