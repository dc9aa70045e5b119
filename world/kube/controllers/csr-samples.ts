// Certificate requests of a kubelet named n1, as OpenSSL writes them. Used by tests only.

/** For n1 and 192.168.1.10, the first machine of a small world. */
export const servingRequest = `-----BEGIN CERTIFICATE REQUEST-----
MIIBEjCBuAIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECIY6YkZ3212e
DlCg31yUVy9WgNzTXIHYupYervC+WMN8aXFCe6QSaIvWBrdRwr38zlL/o5wpVDp/
58gTzDAge6AmMCQGCSqGSIb3DQEJDjEXMBUwEwYDVR0RBAwwCoICbjGHBMCoAQow
CgYIKoZIzj0EAwIDSQAwRgIhAO4ToUKcT/uE/hdd/V+eFVZzPrmb70QKntSBa2Te
IXnYAiEAuKcWkJmonFj2TncZHgJU5vX67pRSI6g3d3C3jdWtULA=
-----END CERTIFICATE REQUEST-----
`;

/** Without subject alternative names: for a client certificate. */
export const clientRequest = `-----BEGIN CERTIFICATE REQUEST-----
MIHrMIGSAgEAMDAxFTATBgNVBAoMDHN5c3RlbTpub2RlczEXMBUGA1UEAwwOc3lz
dGVtOm5vZGU6bjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQIhjpiRnfbXZ4O
UKDfXJRXL1aA3NNcgdi6lh6u8L5Yw3xpcUJ7pBJoi9YGt1HCvfzOUv+jnClUOn/n
yBPMMCB7oAAwCgYIKoZIzj0EAwIDSAAwRQIhAMjJ4GP83squPSFFyl7cyWY2X54T
akqSb7zBgucDhktLAiBX5T+1tbmduLUhpRPPjRoWsvZC/iwtDcyceQuPiRT67A==
-----END CERTIFICATE REQUEST-----
`;
