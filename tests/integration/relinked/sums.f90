! A Fortran program, which knows nothing of it.
!
! SPDX-License-Identifier: Apache-2.0
program sums
    real(8) :: total
    integer(8) :: i
    total = 0
    do i = 1, 60000000_8
        total = total + 1.0d0 / real(i, 8)
    end do
    print '(es24.16)', total
end program
