/// Keys that are public, or made for these tests alone.
enum TestKeys {
    /// RFC 7515, appendix A.3.1, as PKCS #8.
    static let rfc7515 = Array(
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
        H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
        7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
        -----END PRIVATE KEY-----
        """.utf8)

    static let rfc7515Public = Array(
        """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
        6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END PUBLIC KEY-----
        """.utf8)

    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBANYMIKDst2n3YXcg
        BcXick9duDtU251k4Vjuk5CoTSR/+YsqiF+3ijL4Ki+mSMP4Kd2TUE5a3vRAONE5
        QOEWArINJ/ekM96wVzh9ScFeF4ApKa2Ny0CjyJjJ1zRMHvNYPmscdx5Fsg35RCej
        srcADn333bX78Nnkijj5qmKgtNJpAgMBAAECgYBdypCdkzxHXZPCrDB7Zl9qcYmh
        zewxipvH6TqV/3lWDhGdrnR1ZKpU7TMnD/kAjgRiSAO/YcgiROXgn/LS7l8dMhiE
        P8knoTNBX8ACZf1KrQCjXBfMG4eW/5VG4J+qZlvyi/7SZIxJ3Q16DQQahOjxRVg6
        Tw3ZFVIwicSqDDeCEQJBAP4z7uB05ZxfNxg3Whe54vvlRPyCaDoXFTITbxipaUxa
        U5bXZSsnPyhAl5ZCwhwrKGlcUHdJ0Znvq0K7vlzNYcUCQQDXj4Tu4UpXFClXS6I6
        HGOTvM45Djim2aJEMCZRPOea0LrxzteSBvUjH4JNQ6xRBCWshDLmD4lq6GENi2Ej
        t6xVAkAVgf1fHmTjAyddNCm6Qi8TUwWwO7Rn3dYcQ4qt0n+nRyk1ZQoZSZvNYxGw
        U/uqeHhV2cqxHRzP4nhiEBJ+NZ5lAkAO/RbEOXwe0/MP891i5whxhGZeh0OfLnDf
        Bu4TJgYAuNTW7YgFymAPQiigUL1RoNUxyrtzTc9DVMcy1uc5QZNFAkB1SMCFEVZJ
        CzuiWhFwQMPtLC6NJGrfFtwnBcyW9boEJMRS4icg62BZt6909v4PP76d2WTEvXR7
        qbXRWP9wrYf+
        -----END PRIVATE KEY-----
        """

    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBl0HfRlGhBJbLHVyOo
        K3xN0TwsqVvNm7tsTZnzTaYUZMEk5ze6JRaigDTfZim9w1ChZANiAATrtPiz+Wx3
        NU7k1/9HXE6Td7Ev46jCzs+3/oPFy4+ObOq0KvDkb2/R4gLVoP2iG/1LjrThzvyQ
        u1/3nFACJJLk6CcVuxCIci86XnDftTNpsnI9HnLwUNu8oRM8Z/on8s4=
        -----END PRIVATE KEY-----
        """

    /// As long as a P-256 key, and on another curve.
    static let secp256k1 = """
        -----BEGIN PRIVATE KEY-----
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgWJjKFgQtROI4uePozRNg
        BE2YLF8U1TxXB6PAhyYnOIWhRANCAAR8+oPy0ZgRvXfHUxzddGjSGEUUK0sNnm10
        kSMrSmPPkdPfPXlZjiaxCAeksEf7IHfAEl8gQFMq4Sj/mQQGHmlM
        -----END PRIVATE KEY-----
        """

    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjWfTZOn6Fr9AICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEC9GJShyaDiwEZg8haWm5d4EgZCS
        vuokvLWBmEC2yqOZDF6HfjTZRCSIMMiUUlmqDDuc6KrcUL7wSEOVqFDH7kqRE4Ap
        Bpyheio5z8jxyscaZcibdVTevEEPwpqgAiEnfK37GInON3fWtrTC3LQpHaiU+JSI
        NQFuTTT7KtFIm6saM3rAtxnjXk4MrszAjKGgVCLXlG5scNT1kn4/EGPJFpcv8/4=
        -----END ENCRYPTED PRIVATE KEY-----
        """
}
