/**
 * URLs of content that need no header (docs/decisions/0192): what they allow is sealed into them, with the access epoch of
 * the application at the firm. They end by time, and at once with any change of the rights that they were made under.
 */
import { type Disclosed, markServerWritten, unwrapDisclosed } from '../../access/disclosure.ts';
import { withoutMember } from '../../access/json-members.ts';
import { tagSubsetted } from '../../access/mask.ts';
import type { Permission } from '../../access/policy.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { SendingContext } from '../../engine/hooks.ts';
import { buildContentBase, holdsContent, withContentUrls } from './content-urls.ts';

/** How long a URL is good for at most, upload and download alike. */
const linkMs = 300_000;

/** When a URL made now ends: after a while, and not after the rights, as far as time alone ends these. */
export function linkEndMs({ scope, clock }: Pick<SendingContext, 'scope' | 'clock'>): number {
  return Math.min(clock.now() + linkMs, scope.rightsEndAtMs ?? Number.POSITIVE_INFINITY);
}

/** The parameter that it is sealed in. */
export const linkParameter = 'link';

export interface ContentLink {
  readonly purpose: 'upload' | 'download';
  readonly firm: number;
  readonly application: number;
  readonly epoch: number;
  /** Type/id of the resource that was read; of uploads ''. */
  readonly holder: string;
  readonly expiresMs: number;
  /** Whose request it came with, for limits and the audit ledger. */
  readonly apiKey: number;
  readonly flow: 'legacy' | 'client';
  readonly tokenId: string;
  readonly subject: string;
}

/** The URL, absolute. */
export function buildContentLinkUrl(
  context: SendingContext,
  id: string,
  { purpose, holder }: Pick<ContentLink, 'purpose' | 'holder'>,
): string {
  const { scope, caller, secrets, baseUrl } = context;
  const { firm, application, epoch } = scope;
  const { apiKey = 0, flow, tokenId, subject } = caller;
  const link = [purpose, firm, application, epoch, holder, linkEndMs(context), apiKey, flow, tokenId, subject];
  const binding = bindingOf(scope.environment, scope.firmPrefix, scope.product, id);
  const sealed = secrets.sealText('content-link', Buffer.from(JSON.stringify(link)), binding);
  return `${buildContentBase(baseUrl)}/${id}?${linkParameter}=${sealed}`;
}

/** What the value of the parameter allows at a path; undefined: it was not made by this service, or not for this path. */
export function openContentLink(
  secrets: Secrets,
  path: { readonly environment: string; readonly firm: string; readonly product: string; readonly id: string },
  value: string,
): ContentLink | undefined {
  const binding = bindingOf(path.environment, path.firm, path.product, path.id);
  const opened = secrets.openText('content-link', value, binding);
  if (opened === undefined) return undefined;
  const [purpose, firm, application, epoch, holder, expiresMs, apiKey, flow, tokenId, subject] = JSON.parse(
    opened.toString(),
  );
  return { purpose, firm, application, epoch, holder, expiresMs, apiKey, flow, tokenId, subject };
}

/** Nothing of another environment, firm, product or content fits. */
function bindingOf(environment: string, firm: string, product: string, id: string): string {
  return JSON.stringify(['content-link', environment, firm, product, id]);
}

/**
 * What was disclosed, with URLs of content for the letter it was disclosed under. Rows of a search for documents come
 * without `content`, as existing clients know them, where it lies here.
 */
export function withContentLinksFor(
  context: SendingContext,
  letter: Permission,
  type: string,
  id: string,
  disclosed: Disclosed<string>,
): Disclosed<string> {
  const text = unwrapDisclosed(disclosed);
  if (!holdsContent(text)) return disclosed;
  const { contentUrlOf } = context;
  if (contentUrlOf !== undefined)
    return markServerWritten(withContentUrls(text, (content) => contentUrlOf(`${type}/${id}`, content)));
  if (letter === 's' && type === 'DocumentReference')
    return markServerWritten(tagSubsetted(withoutMember(text, 'content')));
  const base = buildContentBase(context.baseUrl);
  const urlOf = (content: string): string =>
    letter === 'r'
      ? buildContentLinkUrl(context, content, { purpose: 'download', holder: `${type}/${id}` })
      : `${base}/${content}`;
  return markServerWritten(withContentUrls(text, urlOf)); // nothing is added but URLs of this service
}
