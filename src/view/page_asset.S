/* The built page, byte for byte; DLKPROF_PAGE is the file, or not defined where the page is left out. */
        .section .rodata
        .global dlkprof_page_begin
        .global dlkprof_page_end
        .hidden dlkprof_page_begin
        .hidden dlkprof_page_end
dlkprof_page_begin:
#ifdef DLKPROF_PAGE
        .incbin DLKPROF_PAGE
#endif
dlkprof_page_end:
        .byte 0
        .section .note.GNU-stack, "", %progbits
