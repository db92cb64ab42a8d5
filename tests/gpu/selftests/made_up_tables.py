"""Tables as the two profilers write them, of launches that never were."""

NCU_CSV = '''==PROF== Connected to process 41 (/tmp/copy)
checksum copy_kernel 00ff
==PROF== Disconnected from process 41
"ID","Process ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","launch__waves","smsp__inst_executed.sum"
"","","","","","ns","",""
"0","41","fill_kernel","(256, 1, 1)","(64, 2, 1)","1,234.50","0.24","4,096"
"1","41","_Z3fooIiEvT_, int","(32, 1, 1)","(1, 1, 1)","2,000","(!) n/a","17"
'''

OUR_CSV = (
    'ID,Process,Device,Kernel Name,Mangled Name,Grid Size,Block Size,Occurrence,Passes,cost_ns [ns],'
    'gpu__time_duration.sum,smsp__inst_executed.sum,grid_size,block_size,waves_per_sm\r\n'
    '4,41,0,fill_kernel,fill_kernel,"(64, 2, 1)","(256, 1, 1)",0,3,60000000,1296.225,4096,128,256,0.2424\r\n'
    '5,41,0,"foo<int>(int, int)","_Z3fooIiEvT_, int","(1, 1, 1)","(32, 1, 1)",0,3,60000000,,17,1,32,0.01\r\n'
)
