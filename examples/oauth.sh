#!/bin/sh
# The token service with curl and openssl alone: from the address of a practice's FHIR base to a token, by each way of client
# authentication (client_secret_basic, client_secret_post, private_key_jwt), then a call, introspection and revocation.
#
#     ORIGIN=http://127.0.0.1:8080 FIRM=maple CLIENT_ID=… CLIENT_SECRET=… API_KEY=… sh examples/oauth.sh
#
# A client with a key of its own gives PRIVATE_KEY, a PEM file (RSA or P-384), and KEY_ID, its kid, instead of CLIENT_SECRET;
# one that has both gives both. ENVIRONMENT is sandbox and PRODUCT is pm unless they say otherwise; CALL is the read that is
# tried, Patient?_count=1. The script stops at the first answer that is not as it should be, says which, and exits with 1.
#
# Secrets and tokens are handed to curl in files that only this user may read, never as arguments, which all users see.
set -eu
umask 077

fail() {
  printf 'oauth.sh: %s\n' "$1" >&2
  exit 1
}

: "${ORIGIN:?is missing: the origin of the service}" "${FIRM:?is missing: the practice}"
: "${CLIENT_ID:?is missing}" "${API_KEY:?is missing: the key of the client flow}"
base=$ORIGIN/${ENVIRONMENT:-sandbox}/firm/$FIRM/${PRODUCT:-pm}/fhir/v2
call=${CALL:-Patient?_count=1}
case $CLIENT_ID${CLIENT_SECRET-}${KEY_ID-} in
*[!A-Za-z0-9._~-]*) fail 'CLIENT_ID, CLIENT_SECRET or KEY_ID has a character that this service never gives' ;;
esac

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

printf 'x-api-key: %s\n' "$API_KEY" >"$dir/key"
methods=
if [ -n "${CLIENT_SECRET-}" ]; then
  methods='client_secret_basic client_secret_post'
  printf '%s' "$CLIENT_SECRET" >"$dir/secret"
  # RFC 6749 section 2.3.1 form-encodes both first, which changes none of their characters (see above).
  printf 'Authorization: Basic %s\n' "$(printf '%s:%s' "$CLIENT_ID" "$CLIENT_SECRET" | openssl base64 -A)" >"$dir/basic"
fi
if [ -n "${PRIVATE_KEY-}" ]; then
  methods="$methods private_key_jwt"
  : "${KEY_ID:?is missing: the kid that PRIVATE_KEY is registered by}"
  case $(openssl pkey -in "$PRIVATE_KEY" -noout -text_pub) in
  *Modulus*) alg=RS384 ;;
  *P-384*) alg=ES384 ;;
  *) fail 'PRIVATE_KEY must be an RSA key or one on the curve P-384' ;;
  esac
fi
[ -n "$methods" ] || fail 'CLIENT_SECRET and PRIVATE_KEY are missing: one of them proves who the client is'
unset API_KEY CLIENT_SECRET

# --- Answers ---------------------------------------------------------------------------------------------------------------

# member NAME: the text of a JSON member of the last answer.
member() {
  sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' "$dir/body"
}

# send WHAT STATUS [curl options] URL: an answer of another status ends the script.
send() {
  what=$1 wanted=$2
  shift 2
  status=$(curl -q -sS --max-time 30 -D "$dir/head" -o "$dir/body" -w '%{http_code}' "$@") || fail "$what: no answer"
  # The service writes JSON on one line and without blanks, so sed finds its members.
  [ "$status" = "$wanted" ] ||
    fail "$what: $status instead of $wanted: $(member error) $(member error_description)$(member diagnostics)"
}

# same WHAT FOUND WANTED
same() {
  [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
}

# holds WHAT TEXT: the last answer has TEXT somewhere.
holds() {
  grep -qF -- "$2" "$dir/body" || fail "$1: $2 is not there"
}

# --- Discovery -------------------------------------------------------------------------------------------------------------

send 'call without credentials' 401 "$base/$call"
resource_metadata=$(sed -n 's/^[Ww][Ww][Ww]-[Aa]uthenticate:.*resource_metadata="\([^"]*\)".*/\1/p' "$dir/head")
[ -n "$resource_metadata" ] || fail 'call without credentials: WWW-Authenticate names no resource_metadata (RFC 9728 section 5.1)'

send 'protected resource metadata' 200 "$resource_metadata"
same 'resource (RFC 9728 section 3.3)' "$(member resource)" "$base"
issuer=$(sed -n 's/.*"authorization_servers":\["\([^"]*\)".*/\1/p' "$dir/body")
[ -n "$issuer" ] || fail 'protected resource metadata: authorization_servers is missing'

send 'smart-configuration' 200 "$base/.well-known/smart-configuration"
holds 'smart-configuration' '"client-confidential-symmetric"'
holds 'smart-configuration' '"client-confidential-asymmetric"'
token_endpoint=$(member token_endpoint) jwks_uri=$(member jwks_uri)
introspection_endpoint=$(member introspection_endpoint) revocation_endpoint=$(member revocation_endpoint)

# RFC 8414 section 3.1 puts the well-known part before the issuer's path, OpenID Connect after it.
server_metadata=$(printf '%s' "$issuer" | sed 's|^\(https\{0,1\}://[^/]*\)|\1/.well-known/oauth-authorization-server|')
for metadata in "$server_metadata" "$issuer/.well-known/openid-configuration"; do
  send "$metadata" 200 "$metadata"
  same "$metadata: issuer" "$(member issuer)" "$issuer"
  same "$metadata: token_endpoint" "$(member token_endpoint)" "$token_endpoint"
  same "$metadata: jwks_uri" "$(member jwks_uri)" "$jwks_uri"
  same "$metadata: introspection_endpoint" "$(member introspection_endpoint)" "$introspection_endpoint"
  same "$metadata: revocation_endpoint" "$(member revocation_endpoint)" "$revocation_endpoint"
  for endpoint in token introspection revocation; do
    offered=$(sed -n "s/.*\"${endpoint}_endpoint_auth_methods_supported\":\\[\\([^]]*\\)\\].*/\\1/p" "$dir/body")
    for method in $methods; do
      case $offered in *"\"$method\""*) ;; *) fail "$metadata: the $endpoint endpoint does not offer $method" ;; esac
    done
  done
  [ -z "${alg-}" ] || holds "$metadata" "\"$alg\""
done

send 'JWK Set' 200 "$jwks_uri"
cp "$dir/body" "$dir/jwks"
printf 'discovery: %s\n' "$issuer"

# --- Client authentication -------------------------------------------------------------------------------------------------

base64url() {
  openssl base64 -A | tr '+/' '-_' | tr -d '='
}

# sign: the signature of standard input by the private key, as JWS wants it (RFC 7518 sections 3.3 and 3.4).
sign() {
  if [ "$alg" = RS384 ]; then
    openssl dgst -sha384 -sign "$PRIVATE_KEY" -binary
    return
  fi
  # Of openssl's two integers, without leading zeros, JWS wants 48 bytes each.
  openssl dgst -sha384 -sign "$PRIVATE_KEY" -binary | openssl asn1parse -inform DER | sed -n 's/.*INTEGER *://p' |
    while read -r hex; do
      while [ ${#hex} -lt 96 ]; do hex=0$hex; done
      for byte in $(printf '%s' "$hex" | sed 's/../0x& /g'); do
        # shellcheck disable=SC2059 # the escape is the format
        printf "\\$(printf '%03o' "$byte")"
      done
    done
}

# assertion AUDIENCE: makes a new one, since each works once.
assertion() {
  now=$(date +%s)
  header=$(printf '{"alg":"%s","kid":"%s","typ":"JWT"}' "$alg" "$KEY_ID" | base64url)
  claims=$(printf '{"iss":"%s","sub":"%s","aud":"%s","iat":%d,"exp":%d,"jti":"%s"}' \
    "$CLIENT_ID" "$CLIENT_ID" "$1" "$now" $((now + 60)) "$(openssl rand -hex 16)" | base64url)
  signature=$(printf '%s.%s' "$header" "$claims" | sign | base64url)
  printf '%s.%s.%s' "$header" "$claims" "$signature" >"$dir/assertion"
}

# ask WHAT ENDPOINT [curl options]: POSTs a form as the client, which proves by $method who it is.
ask() {
  asked=$1 endpoint=$2
  shift 2
  case $method in
  client_secret_basic) set -- -H "@$dir/basic" "$@" ;;
  client_secret_post) set -- --data-urlencode "client_id=$CLIENT_ID" --data-urlencode "client_secret@$dir/secret" "$@" ;;
  private_key_jwt)
    assertion "$endpoint"
    set -- --data-urlencode 'client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer' \
      --data-urlencode "client_assertion@$dir/assertion" "$@"
    ;;
  esac
  send "$method: $asked" 200 -H "@$dir/key" "$@" "$endpoint"
}

# --- A token's life --------------------------------------------------------------------------------------------------------

for method in $methods; do
  ask token "$token_endpoint" --data-urlencode 'grant_type=client_credentials'
  same "$method: token_type" "$(member token_type)" Bearer
  member access_token | tr -d '\n' >"$dir/token"
  rm "$dir/body"
  printf 'Authorization: Bearer %s\n' "$(cat "$dir/token")" >"$dir/bearer"
  head=$(cut -d . -f 1 <"$dir/token" | tr '_-' '/+')
  while [ $((${#head} % 4)) -ne 0 ]; do head=$head=; done
  kid=$(printf '%s' "$head" | openssl base64 -d -A | sed -n 's/.*"kid":"\([^"]*\)".*/\1/p')
  grep -qF -- "\"kid\":\"$kid\"" "$dir/jwks" || fail "$method: the key that signed the token is not in the JWK Set"

  send "$method: call" 200 -H "@$dir/key" -H "@$dir/bearer" "$base/$call"
  ask introspection "$introspection_endpoint" --data-urlencode "token@$dir/token"
  holds "$method: introspection" '"active":true'
  same "$method: introspection: client_id" "$(member client_id)" "$CLIENT_ID"
  same "$method: introspection: iss" "$(member iss)" "$issuer"

  ask revocation "$revocation_endpoint" --data-urlencode "token@$dir/token"
  ask 'introspection after revocation' "$introspection_endpoint" --data-urlencode "token@$dir/token"
  same "$method: introspection after revocation" "$(cat "$dir/body")" '{"active":false}'
  send "$method: call after revocation" 401 -H "@$dir/key" -H "@$dir/bearer" "$base/$call"
  printf '%s: token, call, introspection, revocation\n' "$method"
done
