/** Whom the content of a Binary is about (https://hl7.org/fhir/R4/binary-definitions.html#Binary.securityContext). */
import { getStoredText } from '../../access/disclosure.ts';
import { findMemberText } from '../../access/json-members.ts';
import { findText } from '../../search/json-values.ts';
import type { StoredResource } from '../../storage/resources.ts';
import type { InteractionContext } from '../context.ts';

/** The reference of its securityContext, as `Type/id` where it leads to this firm; undefined: it has none. */
export function findBinaryOwner(
  { baseUrl }: Pick<InteractionContext, 'baseUrl'>,
  { content }: Pick<StoredResource, 'content'>,
): string | undefined {
  // The content may have megabytes of data: only this member is parsed.
  const member = findMemberText(getStoredText(content), 'securityContext');
  const reference = member === undefined ? undefined : findText(JSON.parse(member), 'reference');
  return reference?.startsWith(`${baseUrl}/`) ? reference.slice(baseUrl.length + 1) : reference;
}
