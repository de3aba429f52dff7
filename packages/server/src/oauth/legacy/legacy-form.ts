/**
 * The form of a request to the legacy endpoint. A refresh may have another Content-Type where its application has the setting
 * `anyFormType` (docs/decisions/0339); the application is known once its key has been looked up, so the form is read before.
 */
import { OAuthError } from '../errors.ts';
import { type Form, isFormType, parseForm, parseFormBody, refuseFormType } from '../form.ts';

/** @throws OAuthError `invalid_request`, as `parseForm`; of another Content-Type, unless the body is the form of a refresh */
export function parseLegacyForm(contentType: readonly string[], body: Uint8Array): Form {
  if (isFormType(contentType)) return parseForm(contentType, body);
  const form = parseAnyBody(body);
  return form?.get('grant_type') === 'refresh_token' ? form : refuseFormType();
}

/** undefined: the body is no form. */
function parseAnyBody(body: Uint8Array): Form | undefined {
  try {
    return parseFormBody(body);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}
