/**
 * References in answers (https://hl7.org/fhir/R4/references.html#literal). They are returned as they were sent; an
 * application may have relative ones made absolute, since some clients tell a location from a practitioner by `/Location/`
 * inside a URL (docs/integrate/contract.md#fhir).
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { type Disclosed, markServerWritten, unwrapDisclosed } from '../../access/disclosure.ts';
import type { InteractionContext } from '../context.ts';

/**
 * `Type/id`, also with a version, as the value of a member `reference`. In a JSON text without spaces, as storage holds it,
 * this cannot match inside a string, whose quotes are escaped.
 */
const relativeReference = /"reference":"(?=([A-Z][A-Za-z]+)\/[A-Za-z0-9\-.]{1,64}(?:"|\/_history\/))/g;

/** A Reference that says nothing but where it leads, to a resource of the firm. */
const bareReference =
  /\{"reference":"(([A-Z][A-Za-z]+)\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?)"\}/g;

const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/** The JSON text with references as the application's setting wants them. */
export function withReferencesFor(
  { settings, baseUrl }: InteractionContext,
  disclosed: Disclosed<string>,
): Disclosed<string> {
  const { absoluteReferences, referenceDisplays } = settings;
  if (!absoluteReferences && !referenceDisplays) return disclosed;
  let text = unwrapDisclosed(disclosed);
  if (referenceDisplays)
    text = text.replace(bareReference, (bare, reference: string, type: string) =>
      served.has(type) ? `{"reference":"${reference}","display":"${baseUrl}/${reference}"}` : bare,
    );
  if (absoluteReferences)
    text = text.replace(relativeReference, (member, type: string) =>
      served.has(type) ? `${member}${baseUrl}/` : member,
    );
  return markServerWritten(text); // nothing is added but the URL of this service
}
